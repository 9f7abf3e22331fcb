// Small helpers for the page: find, write only what changed, build without markup strings.

export const find = (selector, root = document) => root.querySelector(selector);
export const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Set text, and touch the page only when it differs. */
export function write(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

export function attribute(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/** An element with properties and children: make("td", {className: "num"}, "12 ms"). */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "scope" || name === "colspan") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** The JSON that a template embedded. */
export const embedded = (id) => JSON.parse(document.getElementById(id).textContent);

/** Colours as the stylesheet has them now, by the names of the tokens. */
export function colours(names) {
  const probe = make("i", { hidden: true });
  document.body.append(probe);
  const found = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}

/** Calls back when light turns to dark or back, by the system or by the reader. */
export function onTheme(call) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", call);
  document.addEventListener("themechange", call);
}

/** Change the address's query without a new entry in the history; null takes a key out. */
export function remember(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  if (url.href !== location.href) history.replaceState(history.state, "", url);
}

export const recalled = (name) => new URL(location.href).searchParams.get(name);
