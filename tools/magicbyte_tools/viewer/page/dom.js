// Elements, made without markup: what a file says is text, never HTML.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null) continue;
    made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function counted(number, noun, plural = `${noun}s`) {
  return `${Number(number).toLocaleString("en")} ${Number(number) === 1 ? noun : plural}`;
}

function sizeText(bytes) {
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let size = bytes;
  let unit = null;
  while (size >= 1024 && units.length) {
    size /= 1024;
    unit = units.shift();
  }
  return unit ? `${size.toFixed(size < 10 ? 1 : 0)} ${unit}` : counted(bytes, "byte");
}

function hash(position, payloadPosition) {
  return `#byte=${position}${payloadPosition === undefined || payloadPosition === null ? "" : `&payload=${payloadPosition}`}`;
}
