() => axe.run(
    { exclude: [["footer"]] },
    { resultTypes: ["violations"], preload: { assets: ["media"] } },
).then((found) => found.violations)
