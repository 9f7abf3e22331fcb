import assert from "node:assert/strict";
import { test } from "node:test";

import { treeNodes } from "../../static/js/tree-model.js";

const level = (path, quota_us = null) => ({ path, quota_us, period_us: 100_000, weight: 1, shares: null });

test("units' paths become one tree, a level once, children after their parent", () => {
  const above = [level("/"), level("/lab")];
  const nodes = treeNodes([
    { name: "pod", tree: [...above, level("/lab/pod", 150_000)] },
    { name: "pod.small", tree: [...above, level("/lab/pod", 150_000), level("/lab/pod/small", 50_000)] },
    { name: "pod.big", tree: [...above, level("/lab/pod", 150_000), level("/lab/pod/big", 200_000)] },
    { name: "load", tree: [...above, level("/lab/load")] },
  ]);
  assert.deepEqual(
    nodes.map(({ name, depth, units }) => [name, depth, units.join()]),
    [
      ["/", 0, ""],
      ["lab", 1, ""],
      ["pod", 2, "pod"],
      ["small", 3, "pod.small"],
      ["big", 3, "pod.big"],
      ["load", 2, "load"],
    ],
  );
  const by = Object.fromEntries(nodes.map((node) => [node.name, node]));
  assert.deepEqual([by.small.effective, by.small.effectiveAt, by.small.binds], [0.5, "/lab/pod/small", true]);
  // Its own two CPUs do not bind: the pod has less.
  assert.deepEqual([by.big.effective, by.big.effectiveAt, by.big.binds], [1.5, "/lab/pod", false]);
  assert.equal(by.pod.binds, true);
  assert.deepEqual([by.load.effective, by.load.binds, by.lab.binds], [null, false, false]);
});

test("a limit at the root holds everything below it", () => {
  const [root, leaf] = treeNodes([{ name: "app", tree: [level("/r", 100_000), level("/r/app")] }]);
  assert.deepEqual([root.binds, leaf.effective, leaf.effectiveAt], [true, 1, "/r"]);
  assert.deepEqual(treeNodes([{ name: "app", tree: null }]), []);
});
