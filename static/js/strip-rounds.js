// The rounds under a period strip: bursts and tasks as spans with their pauses; seconds of
// requests and reports as mere stretches of time, with what was counted in them. Pure.

import { cpusOf } from "./cpu-reports.js";
import { count, cpus, time } from "./format.js";
import { errorWords } from "./latencies.js";
import { roundsWithin } from "./spans.js";
import { pausesIn } from "./strip-model.js";
import { nounOf, resultOf } from "./units.js";

const ROOM = 14; // from so many rounds on there is no room for words under each

/** [{t0, t1, label, pauses, stretch}] of the rounds that touch [from, to). */
export function roundMarks({ rounds, arm }, model, from, to) {
  const shown = roundsWithin(rounds, from, to);
  const room = shown.length < ROOM;
  const stretch = resultOf(arm) !== "wall_us";
  return shown.map((round) => {
    const t1 = round.start_us + round.wall_us;
    return {
      t0: round.start_us,
      t1,
      stretch,
      pauses: stretch ? [] : pausesIn(model, round.start_us, t1),
      label: room ? markWords(arm, round) : "",
    };
  });
}

/** What stands under one: the wall of a round, the requests of a second, the CPU of a report. */
export function markWords(arm, round) {
  const result = resultOf(arm);
  const head = `${nounOf(arm)} ${round.n}`;
  if (result === "wall_us") return `${head}: ${time(round.wall_us)}`;
  if (result === "cpu") return `${head}: ${cpus(cpusOf(round))}`;
  const m = round.measures[result];
  if (!m) return head;
  const failed = errorWords(m.errors, count);
  const most = m.n ? `, slowest ${time(m.max)}` : "";
  return `${head}: ${count(m.n)} requests${most}${failed ? `, ${failed}` : ""}`;
}
