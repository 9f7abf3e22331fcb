// The only file that knows Plotly (a deferred script: window.Plotly). One panel is one small
// plot with one measure; panels are drawn in separate frames, so that none is a long task.
// Points are lines and paths, never WebGL: its compiler needs eval, which the pages forbid.

import { colours } from "./dom.js";
import { number } from "./format.js";

const TOKENS = [
  "ink",
  "soft",
  "line",
  "hair",
  "run",
  "pause",
  "pause-ink",
  "limit",
  "published",
  "published-ink",
  "card",
  "bad",
];
const MANY = 150; // points from which a line replaces markers: each marker is an element

/** The height a panel needs with or without the axis of rounds under it. */
export const panelHeight = (inner, axis) => inner + (axis ? 42 : 12);

export class Panel {
  /** onPick(index) on a click on a point; onRange([from, to] | null) on a zoom. */
  constructor(element, { onPick, onRange, onHover }) {
    this.element = element;
    this.handlers = { onPick, onRange, onHover };
    this.made = false;
    this.retheme();
  }

  retheme() {
    this.c = colours(TOKENS);
  }

  /**
   * panel: {kind: "dots" | "bars", unit, x, y, marks (per point: true where paused), ids(x),
   * range: [from, to], top, height, axis (written below), lines: [{y, text, look}],
   * splits: [{x, text}]}. `ids(x)` gives what a point stands for.
   */
  draw(panel) {
    if (!window.Plotly) return;
    const data = panel.kind === "bars" ? this.#bars(panel) : this.#dots(panel);
    window.Plotly.react(this.element, data, this.#layout(panel), {
      displayModeBar: false,
      doubleClick: false,
      scrollZoom: false,
      responsive: false,
    });
    this.ids = panel.ids;
    if (!this.made) this.#listen();
  }

  #dots({ x, y, marks }) {
    const { c } = this;
    const base = { type: "scatter", hoverinfo: "none" };
    if (x.length > MANY) return [{ ...base, mode: "lines", x, y, line: { color: c.run, width: 1.2, simplify: false } }];
    const size = x.length > 80 ? 5 : 7;
    const part = (paused, marker) => {
      const keep = x.map((_, i) => i).filter((i) => Boolean(marks[i]) === paused);
      return {
        ...base,
        mode: "markers",
        marker,
        x: keep.map((i) => x[i]),
        y: keep.map((i) => y[i]),
      };
    };
    return [
      part(false, { size, color: c.run }),
      part(true, {
        size: size + 1,
        symbol: "diamond",
        color: c.pause,
        line: { color: c["pause-ink"], width: 1 },
      }),
    ];
  }

  // Bars as one path of upright strokes: thousands cost no more than a line.
  #bars({ x, y, colour, barWidth }) {
    const xs = [];
    const ys = [];
    for (let i = 0; i < x.length; i += 1) {
      if (y[i] === null) continue;
      xs.push(x[i], x[i], null);
      ys.push(0, y[i], null);
    }
    // Thinned already: looking for points to leave out would only cost time.
    const line = { color: this.c[colour], width: barWidth, simplify: false };
    return [{ type: "scatter", mode: "lines", x: xs, y: ys, hoverinfo: "none", line }];
  }

  #layout({ range, top, height, axis, lines, splits, width }) {
    const { c } = this;
    const font = { family: "system-ui, sans-serif", size: 11, color: c.soft };
    return {
      width,
      height,
      font,
      showlegend: false,
      hovermode: "closest",
      dragmode: "zoom",
      paper_bgcolor: "transparent",
      plot_bgcolor: "transparent",
      margin: { l: 46, r: 8, t: 6, b: axis ? 36 : 6 },
      xaxis: {
        range,
        zeroline: false,
        showgrid: false,
        showticklabels: Boolean(axis),
        nticks: Math.max(3, Math.floor(width / 45)),
        tickangle: 0,
        tickformat: "d",
        title: axis ? { text: axis, standoff: 6 } : undefined,
        linecolor: c.line,
        showline: true,
        ticks: axis ? "outside" : "",
        ticklen: 3,
        tickcolor: c.line,
      },
      yaxis: {
        range: [0, top],
        fixedrange: true,
        zeroline: false,
        gridcolor: c.hair,
        ...ticks(top, height),
      },
      shapes: [...lines.map((line) => this.#shape(line)), ...splits.map((split) => this.#split(split))],
      annotations: [
        ...lines.map((line) => this.#label(line)),
        ...splits.filter((s) => s.text).map((s) => this.#splitLabel(s, font)),
      ],
    };
  }

  #shape({ y, look }) {
    const width = look === "limit" ? 1.5 : 2;
    return {
      type: "line",
      xref: "paper",
      x0: 0,
      x1: 1,
      y0: y,
      y1: y,
      line: { color: this.c[look], width },
      layer: "below",
    };
  }

  #label({ y, text, look }) {
    // Dots may lie under the words of a published figure; they must stay in sight.
    const published = look === "published";
    return {
      xref: "paper",
      x: 1,
      xanchor: "right",
      y,
      yanchor: "bottom",
      showarrow: false,
      text,
      font: { size: 11, color: published ? this.c["published-ink"] : this.c.ink },
      bgcolor: published ? "transparent" : this.c.card,
      borderpad: 1,
    };
  }

  #split({ x }) {
    return {
      type: "line",
      x0: x,
      x1: x,
      yref: "paper",
      y0: 0,
      y1: 1,
      line: { color: this.c.line, width: 1, dash: "dot" },
    };
  }

  #splitLabel({ x, text }, font) {
    return {
      x,
      y: 1,
      yref: "paper",
      xanchor: "left",
      yanchor: "top",
      showarrow: false,
      text,
      font: { ...font, size: 10 },
    };
  }

  #listen() {
    this.made = true;
    const { onPick, onRange, onHover } = this.handlers;
    const id = (event) => {
      const point = event.points?.[0];
      if (!point) return null;
      return this.ids?.(point.x) ?? null;
    };
    this.element.on("plotly_click", (event) => onPick?.(id(event)));
    this.element.on("plotly_hover", (event) => onHover?.(id(event)));
    this.element.on("plotly_unhover", () => onHover?.(null));
    this.element.on("plotly_doubleclick", () => onRange?.(null));
    this.element.on("plotly_relayout", (change) => {
      const from = change["xaxis.range[0]"];
      if (from !== undefined) onRange?.([from, change["xaxis.range[1]"]]);
    });
  }

  clear() {
    if (this.made) window.Plotly.purge(this.element);
    this.made = false;
  }
}

// Few ticks at round values, written as everywhere: thin space between thousands.
function ticks(top, height) {
  const wanted = Math.max(2, Math.floor(height / 36));
  const raw = top / wanted;
  const size = 10 ** Math.floor(Math.log10(raw || 1));
  const step = size * ([1, 2, 5].find((factor) => factor * size >= raw) ?? 10);
  const tickvals = [];
  for (let k = 0; k * step <= top * 1.0001; k += 1) tickvals.push(k * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticktext = tickvals.map((v) => (digits ? v.toFixed(digits) : number(v)).replace(/\.00?$/, ""));
  return { tickmode: "array", tickvals, ticktext };
}
