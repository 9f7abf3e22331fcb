// The control groups of an arm as one tree, from the levels that each unit's path was read with;
// and which limit holds where. Pure.

const cpusOf = (level) =>
  level.quota_us === null || level.quota_us === undefined || !level.period_us
    ? null
    : level.quota_us / level.period_us;

/**
 * Nodes in the order in which they are drawn, children after their parent: {path, name, depth,
 * the level's own quota_us, period_us, burst_us, weight, shares; unit (whose group it is) or
 * null; effective: the tightest limit of the node and its ancestors in CPUs, null for none;
 * effectiveAt: path that has it; binds: some unit's effective limit is this node's own}.
 *
 * `groups`: [{name, tree: levels from the root down}]. Levels of the same path are one node.
 */
export function treeNodes(groups) {
  const known = new Map();
  const roots = [];
  for (const { name, tree } of groups) {
    let parent = null;
    for (const level of tree ?? []) {
      parent = known.get(level.path) ?? put(known, roots, parent, level);
    }
    if (parent) parent.units.push(name);
  }
  const nodes = [];
  for (const root of roots) walk(root, 0, nodes);
  for (const node of nodes) {
    const holder = node.units.length ? known.get(node.effectiveAt) : null;
    if (holder) holder.binds = true;
  }
  return nodes;
}

function put(known, roots, parent, level) {
  const own = cpusOf(level);
  const tighter = own !== null && (parent?.effective == null || own < parent.effective - 1e-9);
  const node = {
    ...level,
    name: nameOf(level.path, parent?.path),
    own,
    effective: tighter ? own : (parent?.effective ?? null),
    effectiveAt: tighter ? level.path : (parent?.effectiveAt ?? null),
    binds: false,
    units: [],
    children: [],
  };
  known.set(level.path, node);
  (parent ? parent.children : roots).push(node);
  return node;
}

function nameOf(path, above) {
  if (above === undefined) return path;
  const rest = path.startsWith(above) ? path.slice(above.length) : path;
  return rest.replace(/^\/+/, "") || path;
}

function walk(node, depth, into) {
  node.depth = depth;
  into.push(node);
  for (const child of node.children) walk(child, depth + 1, into);
}
