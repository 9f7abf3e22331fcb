// Whose periods and counters are shown, where an arm has several units.

import { make, recalled, remember } from "./dom.js";
import { unitOf } from "./units.js";

const limitWords = (limit) => (limit === "no limit" ? limit : `limit ${limit}`);

export class UnitChoice {
  /** The select may be missing: no arm of the run has more than one unit. */
  constructor(select, { onChoose }) {
    Object.assign(this, { select, name: recalled("unit"), arm: null });
    select?.addEventListener("change", () => {
      this.name = select.value;
      remember({ unit: unitOf(this.arm).name === this.name ? null : this.name });
      onChoose();
    });
  }

  /** Offer the units of an arm; a unit that it does not have is its counted one. */
  offer(arm) {
    const { select } = this;
    if (!select || this.arm === arm) return;
    this.arm = arm;
    select.replaceChildren(
      ...arm.units.map(({ name, role, limit_text: limit }) =>
        make("option", { value: name }, `${name} (${role === "measured" ? limitWords(limit) : role})`),
      ),
    );
    select.value = unitOf(arm, this.name).name;
    select.parentElement.hidden = arm.units.length < 2;
  }
}
