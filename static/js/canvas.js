// What the painters on canvases share: a sharp canvas, strokes, the hatches.

export const FONT = "11px system-ui, sans-serif";

/** Make the canvas so large in CSS pixels, sharp on this screen; empties it. */
export function fit(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
}

export function line(g, x0, y0, x1, y1) {
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
}

function pattern(size, ground, draw) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const g = tile.getContext("2d");
  g.fillStyle = ground;
  g.fillRect(0, 0, size, size);
  draw(g);
  return g.createPattern(tile, "repeat");
}

/** The hatch of paused time. */
export const pauseHatch = (c) =>
  pattern(7, c["pause-soft"], (g) => {
    g.strokeStyle = c.pause;
    g.lineWidth = 2.2;
    for (const x of [-7, 0, 7]) line(g, x, 7, x + 7, 0);
  });

/** The crosses of what is unknown. */
export const unknownHatch = (c) =>
  pattern(6, c.card, (g) => {
    g.strokeStyle = c.unknown;
    g.lineWidth = 1;
    line(g, 0, 0, 6, 6);
    line(g, 0, 6, 6, 0);
  });
