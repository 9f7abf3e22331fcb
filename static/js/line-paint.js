// Paints into a panel of panel-paint.js: latencies second by second, CPU report by report.

import { line } from "./canvas.js";

const LABEL = 12; // pixels from one label to the next

/** A column a second, from its median to its p99 (or maximum), the median as a stroke, the
 * maximum as a ring; a cross at the top where requests failed. */
export function paintLatencies({ g, c, at }, { x, p50, high, max, failed, barWidth }) {
  const wide = Math.max(1, barWidth);
  const inside = (px) => px >= at.left - wide && px <= at.right + wide;
  for (let i = 0; i < x.length; i += 1) {
    const px = at.x(x[i]);
    if (!inside(px)) continue;
    if (p50[i] !== null) {
      const low = at.y(p50[i]);
      const top = at.y(high[i] ?? p50[i]);
      g.fillStyle = c["run-soft"];
      g.fillRect(px - wide / 2, top, wide, Math.max(0, low - top));
      g.fillStyle = c.run;
      g.fillRect(px - wide / 2, low - 1, wide, 2);
      g.fillRect(px - wide / 2, top, wide, 1);
    }
    if (max[i] !== null) ring(g, c, px, at.y(max[i]), wide);
    if (failed[i]) cross(g, c, px, at.ceiling + 4);
  }
}

function ring(g, c, x, y, wide) {
  g.strokeStyle = c.ink;
  g.lineWidth = 1;
  if (wide < 4) return line(g, x - 1, y, x + 1, y);
  g.fillStyle = c.card;
  g.beginPath();
  g.arc(x, y, 2.2, 0, 2 * Math.PI);
  g.fill();
  return g.stroke();
}

function cross(g, c, x, y) {
  g.strokeStyle = c.bad;
  g.lineWidth = 1.5;
  line(g, x - 3, y - 3, x + 3, y + 3);
  line(g, x - 3, y + 3, x + 3, y - 3);
}

/** A line with a dot a report for each series, its name at the end. */
export function paintSeries({ g, c, at }, { x, series, splits }) {
  const breaks = new Set(splits.map((split) => Math.ceil(split.x)));
  const labels = [];
  for (const { label, y } of series) {
    g.strokeStyle = c.run;
    g.fillStyle = c.run;
    g.lineWidth = 1.6;
    let before = null;
    let end = null;
    for (let i = 0; i < x.length; i += 1) {
      const value = y[i];
      const point = value === null ? null : [at.x(x[i]), at.y(value)];
      if (point && before && !breaks.has(x[i])) line(g, ...before, ...point);
      if (point) {
        g.beginPath();
        g.arc(...point, 3, 0, 2 * Math.PI);
        g.fill();
        end = point;
      }
      before = point;
    }
    // A neighbour may have ended a report before the others.
    if (end) labels.push({ label, x: end[0], y: end[1] });
  }
  writeLabels(g, c, at, labels);
}

// Beside its last dot; where two would lie over each other, the lower one is moved down.
function writeLabels(g, c, at, labels) {
  g.textBaseline = "middle";
  let last = -Infinity;
  for (const { label, x, y } of labels.sort((a, b) => a.y - b.y)) {
    const needs = g.measureText(label).width + 8;
    const right = x + needs <= at.right + 6;
    const above = y - LABEL < at.ceiling ? y + LABEL : y - LABEL;
    const middle = Math.max(last + LABEL, right ? y : above);
    last = middle;
    g.textAlign = right ? "left" : "right";
    g.fillStyle = c.ink;
    g.fillText(label, right ? x + 7 : Math.min(x, at.right), middle);
  }
}
