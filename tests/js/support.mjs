// A seeded generator, a packer that mirrors the server's, and a small model of a throttled group.

/** The names that a page is given with its data. */
export const COUNTERS = [
  "window_us",
  "usage_us",
  "nr_periods",
  "nr_throttled",
  "throttled_us",
  "nr_bursts",
  "burst_us",
  "run_delay_us",
];

export function random(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function varint(bytes, value) {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Samples as [t, usage, periods, throttled, paused] with null, packed to base64. */
export function pack(samples) {
  const bytes = [];
  varint(bytes, samples.length);
  for (let column = 0; column < 5; column += 1) {
    let previous = 0;
    for (const sample of samples) {
      const value = sample[column];
      if (value === null) {
        varint(bytes, 0);
      } else {
        const diff = value - previous;
        varint(bytes, 1 + (diff >= 0 ? diff * 2 : -diff * 2 - 1));
        previous = value;
      }
    }
  }
  return Buffer.from(bytes).toString("base64");
}

export const row = (samples, extra = {}) => ({
  k: "samples",
  t0: samples[0][0],
  t1: samples.at(-1)[0],
  count: samples.length,
  data: pack(samples),
  ...extra,
});

/**
 * Bursts of `work` us of CPU on `cpus` CPUs every `every` us under quota/period, sampled each
 * `dt`: the timer books a pause when the group may run again.
 */
export function throttledGroup({
  quota,
  period,
  cpus,
  work,
  every,
  until,
  dt,
  phase = 0,
  start = 1e9,
}) {
  let usage = 123_456;
  let paused = 5_000;
  let periods = 7;
  let throttled = 3;
  let budget = quota;
  let left = 0;
  let frozenFor = 0;
  let idle = 2;
  const samples = [];
  for (let t = 0; t <= until; t += 1000) {
    if ((t - phase) % period === 0 && t >= phase && idle < 2) {
      periods += 1;
      if (frozenFor) throttled += 1;
      paused += frozenFor * cpus;
      frozenFor = 0;
      idle = budget === quota ? idle + 1 : 0;
      budget = quota;
    }
    if (t % every === 0) left += work;
    if (t % dt === 0) samples.push([start + t, usage, periods, throttled, paused]);
    const step = Math.min(left, cpus * 1000, quota === null ? Infinity : budget);
    if (step > 0) {
      idle = 0;
      usage += step;
      left -= step;
      if (quota !== null) budget -= step;
    } else if (left > 0) {
      frozenFor += 1000;
    }
  }
  return samples;
}
