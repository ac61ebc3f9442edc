// Opens reports in a headless Chromium and uses them as a person would; fails on the first thing that does
// not work. In: the folder with solid.html, masked.html, tall.html and line.html. Out: screenshots beside them.
const { chromium } = require("playwright-core");
const assert = require("node:assert");
const path = require("node:path");

const folder = path.resolve(process.argv[2]);
const pixels = (page, id) => page.$eval(id, (canvas) => canvas.toDataURL());
const move = (page, id, value) => page.$eval(id, (input, value) => { input.value = value; input.dispatchEvent(new Event("input")); }, value);

async function check(browser, name, expected) {
  for (const [look, options] of Object.entries({
    light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
    dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
    laptop: { colorScheme: "light", viewport: { width: 1024, height: 640 } },
    narrow: { colorScheme: "light", viewport: { width: 480, height: 900 } },
  })) {
    const context = await browser.newContext({ ...options, offline: true });
    const page = await context.newPage();
    const problems = [];
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(message.text()); });
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) problems.push(request.url()); });
    await page.goto("file://" + path.join(folder, name + ".html"));
    assert.match(await page.textContent("#words"), /times less space/);
    assert.match(await page.textContent("#advice"), /^This meets .* (Recommended|No bound)/);
    for (const id of ["#both", "#errors"]) assert((await pixels(page, id)).length > 1000, `${name}: ${id} is empty`);

    // The slider moves the border between both.
    await move(page, "#split", 0);
    const decoded = await pixels(page, "#both");
    await move(page, "#split", 100);
    const original = await pixels(page, "#both");
    await move(page, "#split", 50);
    assert(new Set([decoded, original, await pixels(page, "#both")]).size >= (expected.lines ? 3 : 2), `${name}: the slider does nothing`);

    // A border shows where it is, except at the ends; and every picture fits on a screen.
    const isBorder = () => page.$eval("#border", (border) => border.offsetWidth > 0);
    assert(await isBorder(), `${name}: no border`);
    await move(page, "#split", 100);
    assert(!(await isBorder()), `${name}: a border beside the picture`);
    await move(page, "#split", 50);
    for (const id of ["#both", "#errors"]) {
      const { width, height } = await page.locator(id).boundingBox();
      assert(height < 1.5 * width, `${name} ${look}: ${id} is ${width} by ${height} pixels`);
    }

    // Slices can be chosen, and play.
    assert.equal(await page.$eval("#slice", (input) => +input.max + 1), expected.slices);
    if (expected.slices > 1) {
      await move(page, "#slice", 0);
      const first = await page.textContent("#place");
      await move(page, "#slice", expected.slices - 1);
      assert.notEqual(await page.textContent("#place"), first);
      const before = await page.$eval("#slice", (input) => input.value);
      await page.click("#play");
      await page.waitForFunction((before) => document.getElementById("slice").value !== before, before);
      await page.click("#play");
    }

    // Points and bars tell what they are.
    for (const chart of ["#rate circle", "#speed circle", "#histogram rect"]) {
      const mark = page.locator(chart).nth(7);
      await mark.scrollIntoViewIfNeeded();
      await mark.dispatchEvent("pointermove", { clientX: 50, clientY: 50 });
      assert.match(await page.textContent("#tip"), chart.includes("rect") ? /values/ : /ratio .*PSNR/s);
      await mark.dispatchEvent("pointerleave");
      assert.equal(await page.$eval("#tip", (tip) => tip.style.display), "none");
    }
    assert.equal(await page.locator("#spectra polyline").count(), expected.spectra);
    assert((await page.locator("#table tr").count()) > 20);
    const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert(wide <= room, `${name} ${look}: ${wide} pixels wide in ${room}`);
    if (!expected.lines) {
      const scale = await page.$$eval("#low, #high", (ends) => ends.map((end) => Number(end.textContent.replace(/[≤≥ ]/g, "").replace("−", "-"))));
      assert(scale[0] < scale[1], `${name}: colours from ${scale}`);
    }
    if (expected.missing) assert.match(await page.textContent("#facts"), /missing/);
    assert.deepEqual(problems, [], `${name} ${look}`);
    await page.screenshot({ path: path.join(folder, `${name}-${look}.png`), fullPage: true });
    if (look === "light") await page.pdf({ path: path.join(folder, `${name}.pdf`), format: "A4" });
    await context.close();
  }
  console.log(`${name}: works`);
}

(async () => {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    await check(browser, "solid", { slices: 16, spectra: 3 });
    await check(browser, "masked", { slices: 1, spectra: 3, missing: true });
    await check(browser, "tall", { slices: 1, spectra: 3 });
    await check(browser, "line", { slices: 4, spectra: 3, lines: true });
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
