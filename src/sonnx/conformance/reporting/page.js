"use strict";
// Builds the page from the data in it. Texts become text nodes and never markup, whoever wrote them.

const report = JSON.parse(document.getElementById("data").textContent);
const VERDICTS = ["crashes", "departs", "unsupported", "conforms"];
const TYPES = [
  "float16", "float", "double", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
  "bool", "string", "bfloat16", "complex64", "complex128",
];
const SIGNS = { conforms: "✓", partly: "(✓)", departs: "≠", crashes: "!", unsupported: "–" };
const WORDS = {
  conforms: "conforms",
  partly: "conforms where it is supported",
  departs: "departs from the specification",
  crashes: "crashes",
  unsupported: "is not supported",
};
const COUNTED = { conforms: "conform", departs: "depart", crashes: "crash", unsupported: "not supported" };
const GRADES = {
  bits: "with the specified bits",
  stop: "by an error where the run must stop",
  separate: "as sums rounded after every step",
  fused: "as fused sums",
  enclosure: "as sums in another order, inside the enclosure",
};
const ON_A_PAGE = 25;
const MANY = 12;

const cells = new Map(report.cells.map((cell) => [`${cell.operator}/${cell.type}`, cell]));
const state = { open: "", only: false };

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return element;
}

function place(id, ...children) {
  document.getElementById(id).replaceChildren(...children.flat(Infinity).filter((child) => child !== null));
}

function number(value) {
  return value.toLocaleString("en");
}

function counted(value, noun) {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

function sign(standing) {
  return make("span", { class: `sign ${standing}`, "aria-hidden": "true" }, SIGNS[standing]);
}

function badge(standing, text) {
  return make("span", { class: `badge ${standing}` },
    make("span", { "aria-hidden": "true" }, SIGNS[standing]), text);
}

function code(text) {
  return make("code", {}, text);
}

// Head and summary

function setting(name, value) {
  const units = { memory: (bytes) => `${bytes / 2 ** 30} GiB`, timeout: (seconds) => `${seconds} s`, seconds: (seconds) => `${seconds} s` };
  return `${name} ${Object.hasOwn(units, name) ? units[name](value) : value}`;
}

function head() {
  const { runtime } = report;
  const options = Object.entries(runtime.options).map(([name, value]) => `${name}=${value}`);
  const facts = [
    report.date || "",
    `asked as ${[runtime.asked, ...options].join(", ")}`,
    `sums ${report.sums}`,
    `seed ${report.seed}`,
    `sonnx ${report.version}`,
    ...Object.entries(report.settings).filter(([, value]) => value !== null).map(([name, value]) => setting(name, value)),
    ...Object.entries(report.environment).map(([name, value]) => name === "system" ? value : `${name} ${value}`),
  ].filter(Boolean);
  place("head",
    make("h1", {}, make("span", {}, `${runtime.name} ${runtime.version}`.trim()), badge(report.verdict, report.verdict_text)),
    make("ul", { class: "facts" }, facts.map((fact) => make("li", {}, fact))),
    report.partial ? make("p", { class: "notice" }, `Not everything was asked: ${report.partial}`) : null);
}

function summary() {
  const shown = ["conforms", "departs", "crashes", "unsupported"];
  const numbers = shown.map((verdict) => make("div", {},
    make("dt", {}, sign(verdict), COUNTED[verdict]), make("dd", {}, number(report.counts[verdict]))));
  const searched = report.cells.reduce((sum, cell) => sum + cell.searched, 0);
  if (searched) numbers.push(make("div", {}, make("dt", {}, "more by the search"), make("dd", {}, number(searched))));
  const share = make("div", { class: "share", "aria-hidden": "true" });
  for (const verdict of shown.filter((each) => report.counts[each])) {
    const part = make("span", { class: verdict });
    part.style.flexGrow = report.counts[verdict];
    share.append(part);
  }
  place("summary", make("dl", { class: "numbers" }, numbers), share,
    report.by_search ? make("p", { class: "note" }, `${report.by_search}; the numbers above are of vectors`) : null);
}

// The matrix

function bad(cell) {
  return cell.verdict === "departs" || cell.verdict === "crashes";
}

// In how many ways it crashes and departs; where there is a +, others may be the same fault.
function ways(cell) {
  const crashes = cell.stops.filter((stop) => stop.verdict === "crashes").length;
  const departs = cell.departures.filter((each) => each.cause === null).length;
  const more = departs < cell.departures.length ? "+" : "";
  if (cell.verdict === "departs") return ` ${departs}${more}`;
  if (cell.verdict !== "crashes") return "";
  return `${crashes ? ` ${crashes}` : ""}${departs ? ` ${SIGNS.departs} ${departs}${more}` : ""}`;
}

function matrix() {
  const wanted = report.cells.filter((cell) => !state.only || bad(cell));
  const box = make("input", { type: "checkbox", id: "only", onchange: () => only(box.checked) });
  box.checked = state.only;
  place("matrix",
    make("div", { class: "bar" },
      make("h2", { id: "matrix-title" }, "Operators and types"),
      make("label", { class: "switch", for: "only" }, box, "Only departures")),
    wanted.length ? grid(wanted) : make("p", { class: "empty" }, nothing()), legend());
  const first = document.querySelector(".cells button");
  if (first) first.tabIndex = 0;
}

function nothing() {
  return report.cells.length ? "Nothing departs." : "Nothing was asked.";
}

function grid(listed) {
  const types = TYPES.filter((type) => listed.some((cell) => cell.type === type));
  const heads = types.map((type) => make("th", { scope: "col" }, make("span", {}, type)));
  const groups = [false, true].map((outside) => listed.filter((cell) => cell.outside_profile === outside));
  const bodies = groups.filter((group) => group.length).map((group) => make("tbody", {},
    group[0].outside_profile ? make("tr", {}, make("th", { class: "outside", scope: "rowgroup", colspan: types.length + 1 },
      make("span", {}, "Outside the profile: asked as another operator of ONNX’s, whose results it does not specify; not counted"))) : null,
    [...new Map(group.map((cell) => [cell.operator, cell.name]))].map(([operator, name]) => make("tr", {},
      make("th", { scope: "row", title: name }, name),
      types.map((type) => make("td", {}, cellButton(group, operator, type)))))));
  const wide = make("div", { class: "wide", onscroll: () => mark(wide) },
    make("table", { class: "cells", "aria-labelledby": "matrix-title", onkeydown: move },
      make("thead", {}, make("tr", {}, make("td", {}), heads)), bodies));
  new ResizeObserver(() => mark(wide)).observe(wide);
  return [make("div", { class: "edges" }, wide), make("p", { class: "hint" }, "Scroll sideways for more types.")];
}

// Whether the matrix is wider than its place, and whether it goes on to the right.
function mark(wide) {
  const hidden = wide.scrollWidth - wide.clientWidth;
  wide.parentElement.classList.toggle("scrolls", hidden > 1);
  wide.parentElement.classList.toggle("more", hidden - wide.scrollLeft > 1);
}

function cellButton(listed, operator, type) {
  const cell = listed.find((each) => each.operator === operator && each.type === type);
  if (!cell) return make("span", { class: "none", title: `not asked on ${type}` });
  const key = `${operator}/${type}`;
  const wrong = VERDICTS.filter((verdict) => verdict !== "conforms" && cell.counts[verdict])
    .map((verdict) => `, ${number(cell.counts[verdict])} ${COUNTED[verdict]}`).join("");
  const label = `${cell.name} on ${type}: ${WORDS[cell.standing]}; ${counted(total(cell), "vector")}${wrong}`;
  return make("button", {
    class: cell.standing, type: "button", tabindex: "-1", "data-cell": key, title: label, "aria-label": label,
    "aria-expanded": String(state.open === key), "aria-controls": "panel",
    onclick: () => (state.open === key ? close() : go(key)),
  }, `${SIGNS[cell.standing]}${ways(cell)}`);
}

function total(cell) {
  return VERDICTS.reduce((sum, verdict) => sum + cell.counts[verdict], 0);
}

function legend() {
  const words = { ...WORDS, departs: "departs, in so many ways (+ and perhaps more)", crashes: "crashes, in so many ways" };
  const items = Object.entries(words).map(([standing, text]) => make("li", {}, sign(standing), text));
  return make("ul", { class: "legend" }, items,
    make("li", {}, "Arrow keys move from cell to cell, Enter opens one, Escape closes it."));
}

function move(event) {
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const from = event.target.closest("td");
  if (!from) return;
  const rows = [...event.currentTarget.querySelectorAll("tr")].filter((row) => row.querySelector("button"));
  let target = null;
  if (event.key in steps) {
    const [down, right] = steps[event.key];
    let row = rows.indexOf(from.parentElement), column = from.cellIndex;
    do { // over the places where there is no cell
      row += down;
      column += right;
      target = rows[row]?.cells[column];
    } while (target && !target.querySelector("button"));
  } else if (event.key === "Home" || event.key === "End") {
    const buttons = [...from.parentElement.querySelectorAll("button")];
    target = buttons.at(event.key === "Home" ? 0 : -1).parentElement;
  } else return;
  event.preventDefault();
  if (target) focusCell(target.querySelector("button"));
}

function focusCell(button) {
  for (const other of document.querySelectorAll(".cells button")) other.tabIndex = -1;
  button.tabIndex = 0;
  button.focus();
}

function only(chosen) {
  state.only = chosen;
  matrix();
  document.getElementById("only").focus();
}

// Every departure once

function departures() {
  const groups = new Map();
  for (const cell of report.cells.filter((each) => !each.outside_profile)) {
    for (const departure of cell.departures) {
      const key = keyOf(cell, departure);
      const group = groups.get(key) || { cell, departure, types: [], cases: 0, cause: "" };
      // It stands behind another one only where it does so on every type.
      const cause = departure.cause === null ? null : keyOf(cell, cell.departures[departure.cause]);
      group.cause = group.cause === "" ? cause : cause && group.cause;
      group.types.push(cell);
      group.cases += departure.cases;
      groups.set(key, group);
    }
    for (const stop of cell.stops.filter((each) => each.verdict === "crashes")) {
      const key = JSON.stringify([cell.operator, stop.said.replace(/0x[0-9a-f]+|\d+/gi, "#")]);
      const group = groups.get(key) || { cell, stop, types: [], cases: 0 };
      group.types.push(cell);
      group.cases += stop.cases;
      groups.set(key, group);
    }
  }
  const listed = [...groups].filter(([, group]) => !group.cause).flatMap(([key, group]) =>
    [group, ...[...groups.values()].filter((each) => each.cause === key)]);
  const rows = listed.map(({ cell, departure, stop, types, cases, cause }) => make("tr", { class: cause ? "behind" : "" },
    make("td", { class: "narrow" }, cause ? "" : sign(departure ? "departs" : "crashes")),
    make("td", { class: "narrow" }, cell.name),
    make("td", {}, cause ? make("span", { class: "quiet" }, "perhaps the same fault: ") : "",
      departure ? departure.clause : stop.said, " ",
      departure ? make("span", { class: "tag" }, departure.identifier) : "",
      departure && departure.kind !== "value" ? make("span", { class: "tag" }, departure.kind) : ""),
    make("td", {}, make("div", { class: "chips" }, types.map((each) => make("a", {
      class: `chip ${departure ? "departs" : "crashes"}`, href: `#${each.operator}/${each.type}`,
    }, each.type)))),
    make("td", { class: "number" }, cases ? number(cases) : "search",
      make("span", { class: "unit" }, cases ? ` vector${cases === 1 ? "" : "s"}` : ""))));
  place("departures", make("h2", { id: "departures-title" }, "What departs"),
    rows.length ? table(["", "operator", "clause of the specification", "types", "vectors"], rows, [4], "list stacked")
      : make("p", { class: "empty" }, nothing()));
}

function keyOf(cell, departure) {
  return JSON.stringify([cell.operator, departure.identifier, departure.clause, departure.kind]);
}

function table(heads, rows, right, kind = "list") {
  const cellsOf = heads.map((text, column) =>
    make("th", { scope: "col", class: right.includes(column) ? "number" : "" }, text));
  return make("div", { class: "scroll" },
    make("table", { class: kind }, make("thead", {}, make("tr", {}, cellsOf)), make("tbody", {}, rows)));
}

// One operator on one type

function panel(cell) {
  const heading = make("h2", { id: "panel-title", tabindex: "-1" },
    `${cell.name} on ${cell.type}`, badge(cell.standing, cell.standing === "departs" ? "departs" : WORDS[cell.standing]));
  const grades = Object.entries(cell.grades)
    .map(([grade, value]) => `${number(value)} ${GRADES[grade] || grade}`).join(", ");
  const counts = ["conforms", "departs", "crashes", "unsupported"].filter((verdict) => cell.counts[verdict])
    .map((verdict) => `${number(cell.counts[verdict])} ${COUNTED[verdict]}`).join(", ");
  const facts = [
    `${counted(total(cell), "vector")}: ${counts || "none"}`,
    grades ? `conforming ${grades}` : "",
    cell.searched ? `${counted(cell.searched, "more case")} by the search` : "",
    cell.unasked ? `${counted(cell.unasked, "vector")} not asked, because so many before crashed` : "",
    cell.outside_profile ? "outside the profile, not counted" : "",
  ].filter(Boolean);
  const crashes = cell.stops.filter((stop) => stop.verdict === "crashes");
  const refused = cell.stops.filter((stop) => stop.verdict !== "crashes");
  const section = document.getElementById("panel");
  section.className = cell.standing;
  section.setAttribute("aria-labelledby", "panel-title");
  place("panel",
    make("div", { class: "bar" }, heading,
      make("button", { class: "close", type: "button", onclick: close }, "Close")),
    make("ul", { class: "facts" }, facts.map((fact) => make("li", {}, fact))),
    cell.departures.filter((each) => each.cause === null).flatMap((each) => withOthers(cell, each)), crashes.map(stopCard), refused.map(stopCard),
    cell.rules.length ? rules(cell) : null,
    total(cell) ? cases(cell) : null);
}

// What may be the same fault is there for whoever opens it.
function withOthers(cell, departure) {
  const number = cell.departures.indexOf(departure);
  const others = cell.departures.filter((each) => each.cause === number);
  return [departureCard(departure), others.length ? make("details", { class: "others" },
    make("summary", {}, `${counted(others.length, "more clause")} broken, perhaps by the same fault`),
    others.map(departureCard)) : null].filter(Boolean);
}

function departureCard(departure) {
  const by = departure.cases
    ? [`${counted(departure.cases, "vector")}, first `, code(departure.source)]
    : ["found by the search"];
  const where = departure.difference.place && departure.difference.place.length
    ? ` at ${departure.difference.output}[${departure.difference.place.join(", ")}]` : "";
  const more = [departure.more ? code(departure.more) : "", departure.more ? ", " : "", "in the documentation ", code(departure.page)];
  return make("article", { class: "case departs" },
    make("h3", {}, departure.clause, make("span", { class: "tag" }, departure.identifier),
      make("span", { class: "tag" }, departure.kind)),
    make("dl", { class: "says" },
      make("dt", {}, departure.against ? "with inputs" : "specified"), make("dd", {}, code(departure.difference.expected), where),
      make("dt", {}, departure.against ? "with constants" : "found"), make("dd", {}, code(departure.difference.found)),
      make("dt", {}, "shown by"), make("dd", {}, by),
      make("dt", {}, "read more"), make("dd", {}, more)),
    departure.note ? make("p", { class: "note" }, departure.note) : null,
    make("h4", {}, "Smallest example"), operands(departure.trial),
    make("h4", {}, departure.against ? "Against the same operands as inputs" : "Specified and found"),
    make("div", { class: "tensors" }, comparisons(departure)),
    python(departure.python));
}

function stopCard(stop) {
  const crash = stop.verdict === "crashes";
  const by = stop.cases ? [`${counted(stop.cases, "vector")}, first `, code(stop.source)] : ["found by the search"];
  // A hang that could not be made smaller was tried a few times only.
  const smallest = crash && (!stop.said.startsWith("late") || stop.trial.name.endsWith("-reduced"));
  const example = [make("h4", {}, smallest ? "Smallest example" : "First example"), operands(stop.trial), python(stop.python)];
  return make("article", { class: `case ${crash ? "crashes" : "unsupported"}` },
    make("h3", {}, crash ? "Crashes" : "Not supported"),
    make("pre", { class: "said" }, stop.said || "Nothing was said."),
    make("p", { class: "note" }, by),
    crash ? example : make("details", {}, make("summary", {}, "Example"), example));
}

function operands(trial) {
  const attributes = Object.entries(trial.attributes)
    .map(([name, value]) => code(`${name}=${Array.isArray(value) ? `[${value.join(", ")}]` : value}`));
  return make("div", {},
    make("div", { class: "tensors" }, trial.operands.map((operand) => tensor(operand))),
    attributes.length ? make("p", { class: "note" }, attributes.flatMap((each) => [each, " "])) : "");
}

// An element is its value and, of floats, its exact value and its bits.
function parts(array, index) {
  const text = array.elements[index];
  const found = array.decimals ? /^(.*) \((0x[0-9a-f]+)\)$/.exec(text) : null;
  return found ? [array.decimals[index], found[1], found[2]] : [text];
}

function indexOf(array, flat) {
  const places = [];
  for (const size of [...array.shape].reverse()) {
    places.unshift(flat % size);
    flat = Math.floor(flat / size);
  }
  return `[${places.join(", ")}]`;
}

// One element alone needs no place.
function placed(array) {
  return array.shape.some((size) => size !== 1);
}

function caption(array) {
  if (array.described) return make("figcaption", {}, make("strong", {}, array.name), ` ${array.described}`);
  return make("figcaption", {}, make("strong", {}, array.name), " ", code(`${array.type}[${array.shape.join(",")}]`),
    array.constant ? " " : "", array.constant ? make("span", { class: "tag" }, "constant") : "");
}

function elementCells(array, index) {
  const [value, exact, bits] = parts(array, index);
  if (!array.decimals) return [make("td", { class: "text" }, value)];
  return [make("td", {}, value), make("td", { class: "exact" }, exact), make("td", {}, bits)];
}

function headsOf(array) {
  const heads = array.decimals ? ["value", "exact", "bits"] : ["value"];
  return heads.map((text) => make("th", { scope: "col", class: text === "exact" ? "exact" : "" }, text));
}

function tensor(array) {
  if (array.described) return make("figure", { class: "tensor" }, caption(array));
  const rows = array.elements.map((_, index) => make("tr", {},
    placed(array) ? make("th", { scope: "row" }, indexOf(array, index)) : null, elementCells(array, index)));
  const heads = [placed(array) ? make("th", { scope: "col" }, "place") : null, headsOf(array)];
  return figure(array, heads, rows);
}

function figure(array, heads, rows, note = "") {
  const size = array.shape.reduce((product, each) => product * each, 1);
  const left = size - array.elements.length;
  const long = rows.length > MANY ? { tabindex: "0", role: "region", "aria-label": array.name } : {};
  return make("figure", { class: "tensor" }, caption(array),
    rows.length ? make("div", { class: "elements", ...long },
      make("table", {}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows))) : "",
    size ? "" : make("p", { class: "note" }, "no elements"),
    note ? make("p", { class: "note" }, note) : "",
    left > 0 ? make("p", { class: "note" }, `and ${counted(left, "more element")}`) : "");
}

function comparisons(departure) {
  const [right, wrong] = departure.against ? ["with inputs", "with constants"] : ["specified", "found"];
  const pairs = departure.specified.map((specified, number) => {
    const found = departure.found[number];
    const alike = found && !found.described && found.type === specified.type
      && found.shape.join() === specified.shape.join();
    return alike ? [compared(specified, found, right, wrong)]
      : [named(specified, right), found ? named(found, wrong) : null];
  });
  const more = departure.found.slice(departure.specified.length).map((found) => named(found, wrong));
  return [...pairs.flat().filter(Boolean), ...more];
}

function named(array, word) {
  return tensor({ ...array, name: `${array.name} ${word}`.trim() });
}

function compared(specified, found, right, wrong) {
  const differs = new Set(found.differs);
  const all = specified.elements.map((_, index) => index);
  // Of many elements, those that are as they must be would hide the others.
  const listed = all.length > MANY && differs.size ? all.filter((index) => differs.has(index)) : all;
  const rows = listed.map((index) => make("tr", { class: differs.has(index) ? "wrong" : "" },
    placed(specified) ? make("th", { scope: "row" }, indexOf(specified, index)) : null,
    elementCells(specified, index),
    make("td", { class: "mark" }, differs.has(index) ? "≠" : "="),
    elementCells(found, index)));
  const heads = [
    placed(specified) ? make("th", { scope: "col" }, "place") : null,
    headsOf(specified).map((each, column) => titled(each, column, right)),
    make("th", { scope: "col" }, ""),
    headsOf(found).map((each, column) => titled(each, column, wrong)),
  ];
  const same = all.length - listed.length;
  return figure(specified, heads, rows, same ? `${counted(same, "other element")} alike` : "");
}

function titled(head, column, word) {
  if (column === 0) head.textContent = word;
  return head;
}

function python(text) {
  const button = make("button", { class: "plain", type: "button", onclick: () => copy(text, button) }, "Copy");
  return make("details", { class: "snippet" }, make("summary", {}, "Python that shows it"),
    make("div", { class: "python" }, button, make("pre", { tabindex: "0" }, make("code", {}, text))));
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", {});
    field.value = text;
    button.after(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

function rules(cell) {
  const rows = cell.rules.map((rule) => make("tr", {},
    make("td", { class: "narrow", title: rule.page }, code(rule.identifier)),
    make("td", { class: "narrow" }, sign(rule.verdict), make("span", { class: "word" }, ` ${rule.verdict}`)),
    ["conforms", "departs", "crashes", "unsupported"].map((verdict) => make("td", {
      class: `number ${rule.counts[verdict] ? verdict === "conforms" ? "" : "some" : "zero"}`,
    }, number(rule.counts[verdict])))));
  return make("section", {}, make("h4", {}, "Rules and rulings"),
    table(["identifier", "verdict", "conform", "depart", "crash", "not supported"], rows, [2, 3, 4, 5]));
}

// The vectors

function unpacked(cell) {
  const { runs, verdicts, about } = cell.cases;
  const names = [];
  for (const [first, length] of runs) for (let index = 0; index < length; index++) names.push(report.texts[first + index]);
  const said = new Map(about);
  return names.map((name, index) => ({
    name, verdict: VERDICTS[verdicts[index]], about: said.has(index) ? report.texts[said.get(index)] : "",
  }));
}

function cases(cell) {
  const all = unpacked(cell);
  const chosen = { verdict: "", text: "", page: 0 };
  const body = make("tbody", {});
  const count = make("span", { role: "status", class: "found" });
  const [back, on] = [["Previous", -1], ["Next", 1]].map(([word, step]) => make("button", {
    class: "plain", type: "button", onclick: () => { chosen.page += step; show(); },
  }, word));
  const buttons = ["", ...VERDICTS].filter((verdict) => !verdict || cell.counts[verdict]).map((verdict) =>
    make("button", { class: "plain", type: "button", "data-verdict": verdict || "all",
      onclick: () => { chosen.verdict = verdict; chosen.page = 0; show(); } },
    verdict ? `${SIGNS[verdict]} ${number(cell.counts[verdict])} ${COUNTED[verdict]}` : `All ${number(all.length)}`));
  const field = make("input", { type: "search", placeholder: "Search names and what was said",
    "aria-label": "Search the vectors", spellcheck: "false",
    oninput: () => { chosen.text = field.value.toLowerCase(); chosen.page = 0; show(); } });

  function show() {
    const found = all.filter((each) => (!chosen.verdict || each.verdict === chosen.verdict)
      && (!chosen.text || `${each.name} ${each.about}`.toLowerCase().includes(chosen.text)));
    const first = chosen.page * ON_A_PAGE;
    const listed = found.slice(first, first + ON_A_PAGE);
    body.replaceChildren(...listed.map((each) => make("tr", {},
      make("td", { class: "narrow" }, sign(each.verdict), make("span", { class: "word quiet" }, ` ${each.verdict}`)),
      make("td", {}, code(each.name)), make("td", { class: "about" }, each.about))));
    count.textContent = found.length
      ? `${number(first + 1)} to ${number(first + listed.length)} of ${number(found.length)}` : "None";
    back.disabled = chosen.page === 0;
    on.disabled = first + ON_A_PAGE >= found.length;
    for (const button of buttons) button.setAttribute("aria-pressed", String((chosen.verdict || "all") === button.dataset.verdict));
  }

  show();
  const heads = ["verdict", "vector", "breaks, or said"].map((text) => make("th", { scope: "col" }, text));
  return make("section", { class: "vectors" }, make("h4", {}, "Vectors"),
    make("div", { class: "tools" }, buttons, field),
    make("div", { class: "scroll" }, make("table", { class: "list" }, make("thead", {}, make("tr", {}, heads)), body)),
    make("div", { class: "pages" }, back, on, count));
}

// What is open stands in the address, so that it can be sent to somebody.

function go(key) {
  if (decodeURIComponent(location.hash.slice(1)) === key) follow();
  else location.hash = key;
}

function close() {
  const key = state.open;
  history.replaceState(null, "", "#");
  show("");
  const button = [...document.querySelectorAll(".cells button")].find((each) => each.dataset.cell === key);
  if (button) focusCell(button);
}

function show(key) {
  state.open = key;
  document.getElementById("panel").hidden = !key;
  for (const button of document.querySelectorAll(".cells button")) {
    button.setAttribute("aria-expanded", String(button.dataset.cell === key));
  }
  if (key) panel(cells.get(key));
}

function follow() {
  let key = "";
  try {
    key = decodeURIComponent(location.hash.slice(1));
  } catch {
    return; // an address that nobody here has written
  }
  if (!key) show("");
  if (!cells.has(key)) return;
  show(key);
  document.getElementById("panel").scrollIntoView();
  document.getElementById("panel-title").focus({ preventScroll: true });
}

function foot() {
  const rate = report.seconds ? `, ${number(Math.round(report.cases / report.seconds))} a second` : "";
  place("foot", make("p", {}, `${counted(report.cases, "case")}, ${report.seconds.toFixed(1)} s${rate}. `
    + "Every example is compared bit by bit with the specification; this page needs no network."),
    make("details", {}, make("summary", {}, "The documents behind the specification"),
      make("ul", { class: "sources" }, report.specification.documents.map((one) =>
        make("li", {}, `${one.title}, sha256 `, code(one.sha256))))));
}

head();
summary();
matrix();
departures();
foot();
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.open) close();
});
window.addEventListener("hashchange", follow);
follow();
