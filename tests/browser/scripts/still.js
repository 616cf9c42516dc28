() => document.getAnimations().every(
    one => one.playState === "finished" || one.effect.getComputedTiming().iterations === Infinity
)
