// Gives each part of the answer what it shows at the layer and with the centring that are chosen.
// `sent` holds all of them as JSON; while it is none of this answer, every part stays as it is.
window.drawFrames = (count, sent, answered, layer, centred) => {
  const frames = sent ? JSON.parse(sent) : null;
  if (frames?.answered !== answered) return Array(count).fill({ __type__: "update" });
  const chosen = Number.isFinite(layer) ? Math.min(Math.max(Math.trunc(layer), 0), frames.last) : frames.last;
  const frame = frames.centrings.indexOf(centred) * (frames.last + 1) + chosen;
  return frames.parts.map(({ values, at }) => values[at[frame]]);
};
