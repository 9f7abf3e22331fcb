// Reads [{blocks: [{data, t0, t1, count}], quota}] and prints what the strip's cells add up to, in us.

import { SampleSeries } from "../../static/js/samples.js";
import { StripModel } from "../../static/js/strip-model.js";

let text = "";
for await (const piece of process.stdin) text += piece;

const sums = JSON.parse(text).map(({ blocks, quota }) => {
  const series = new SampleSeries();
  for (const block of blocks) series.add(block);
  series.settle();
  const model = new StripModel({ periodUs: 100_000, quotaUs: quota, cpus: 2 });
  model.feed(series);
  const total = { used: 0, paused: 0 };
  for (const cell of model.cells()) {
    total.used += cell.used_us;
    total.paused += cell.paused_us ?? 0; // without a quota there is nothing to pause
  }
  return total;
});
process.stdout.write(JSON.stringify(sums));
