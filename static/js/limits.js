// Which limit holds for an arm: its own, or a tighter one above it. Pure.

/**
 * {quota_us, period_us, above}: the limit that holds, as the kernel had it after prepare; the
 * arm's own until that is known. `above` names the ancestor that has it, null for the arm's own.
 */
export function limitOf(store, arm) {
  const own = { quota_us: arm.quota_us, period_us: arm.period_us, above: null };
  for (const repeat of store.repeatsOf(arm.index)) {
    for (const entry of repeat.readback ?? []) {
      if (arm.units && !arm.units.some((unit) => unit.counted && unit.name === entry.group)) continue;
      const { effective_quota_us: quota, effective_period_us: period, effective_at: at } = entry;
      if (quota === null || quota === undefined || !period) continue;
      const tighter = own.quota_us === null || quota / period < own.quota_us / own.period_us - 1e-9;
      if (tighter) return { quota_us: quota, period_us: period, above: at ?? "a group above it" };
    }
  }
  return own;
}

/** The limited arm with the lowest limit of which no judged round was paused, or null. */
export function lowestWithoutPause(store, figures) {
  const share = (arm) => arm.quota_us / arm.period_us;
  const free = store.arms.filter((arm) => {
    const f = figures(arm.index);
    return arm.quota_us !== null && limitOf(store, arm).above === null && f.judged > 0 && f.paused === 0;
  });
  return free.sort((a, b) => share(a) - share(b))[0] ?? null;
}
