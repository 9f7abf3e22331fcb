// The only file that knows Plotly (a deferred script: window.Plotly). It draws the points of a
// panel and minds hover, click and zoom; scales, lines and words are painted on a canvas below
// it, because text in a Plotly layout is measured, and so laid out, at every draw.
// Points are lines and paths, never WebGL: its compiler needs eval, which the pages forbid.

import { attribute, make } from "./dom.js";
import { PanelPainter } from "./panel-paint.js";
import { plotMargin } from "./scale.js";

const MANY = 150; // points from which a line replaces markers: each marker is an element
const CONFIG = { displayModeBar: false, doubleClick: false, scrollZoom: false, responsive: false };
const AXIS = {
  zeroline: false,
  showgrid: false,
  showticklabels: false,
  showline: false,
  ticks: "",
};

export class PlotPanel {
  /** onPick(what) on a click on a point; onHover(what | null); onRange([from, to] | null). */
  constructor(element, { onPick, onRange, onHover }) {
    this.element = element;
    this.handlers = { onPick, onRange, onHover };
    this.made = false;
    this.plot = make("div", {});
    const canvas = make("canvas", { "aria-hidden": "true" });
    element.replaceChildren(canvas, this.plot);
    attribute(element, "role", "img");
    this.painter = new PanelPainter(canvas);
  }

  retheme() {
    this.painter.retheme();
    this.drawn = null;
  }

  /** panel as in bar-panel.js, with kind "dots" and marks (per point: true where paused). */
  draw(panel) {
    this.ids = panel.ids;
    this.painter.draw(panel);
    attribute(this.element, "aria-label", `${panel.name}: ${panel.words}`);
    if (!window.Plotly || same(panel, this.drawn)) return;
    this.drawn = panel;
    window.Plotly.react(this.plot, this.#dots(panel), layout(panel), CONFIG);
    if (!this.made) this.#listen();
  }

  #dots({ x, y, marks, planned }) {
    const { c } = this.painter;
    const base = { type: "scatter", hoverinfo: "none" };
    // Empty, it is as it will be: turning one into the other takes Plotly its time.
    if ((x.length || planned) > MANY) {
      const line = { color: c.run, width: 1.2, simplify: false };
      return [{ ...base, mode: "lines", x, y, line }];
    }
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

  #listen() {
    this.made = true;
    const { onPick, onRange, onHover } = this.handlers;
    const id = (event) => {
      const point = event.points?.[0];
      if (!point) return null;
      return this.ids?.(point.x) ?? null;
    };
    this.plot.on("plotly_click", (event) => onPick?.(id(event)));
    this.plot.on("plotly_hover", (event) => onHover?.(id(event)));
    this.plot.on("plotly_unhover", () => onHover?.(null));
    this.plot.on("plotly_doubleclick", () => onRange?.(null));
    this.plot.on("plotly_relayout", (change) => {
      const from = change["xaxis.range[0]"];
      if (from === undefined) return;
      this.drawn = null; // Plotly has moved its axis by itself
      onRange?.([from, change["xaxis.range[1]"]]);
    });
  }

  clear() {
    if (this.made) window.Plotly.purge(this.plot);
    this.made = false;
  }
}

const layout = ({ width, height, range, top, axis }) => ({
  width,
  height,
  showlegend: false,
  hovermode: "closest",
  dragmode: "zoom",
  paper_bgcolor: "transparent",
  plot_bgcolor: "transparent",
  margin: plotMargin(axis),
  xaxis: { ...AXIS, range: [...range] },
  yaxis: { ...AXIS, range: [0, top], fixedrange: true },
});

const equal = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);

/** Would Plotly draw the same again? */
function same(a, b) {
  if (!b || ["width", "height", "top", "axis"].some((name) => a[name] !== b[name])) return false;
  return ["range", "x", "y", "marks"].every((name) => equal(a[name], b[name]));
}
