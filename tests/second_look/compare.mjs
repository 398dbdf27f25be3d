// What belfry, croner and cron-parser make of the same random expressions.
//
//   node tests/second_look/compare.mjs [SEED] [COUNT]
//
// Needs `npm ci` in this directory first. Nights on which a zone changes its clocks are left out:
// there the three differ by design. Every other difference must have a reason in `known` below, which
// README.md tells in full; one without fails the run.
import { execFileSync } from "node:child_process";
import { CronExpressionParser } from "cron-parser";
import { Cron } from "croner";

const belfry = process.env.BELFRY ?? new URL("../../build/belfry", import.meta.url).pathname;
const seed = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 400);
const RUNS = 40;
const DAY = 86400000;
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
               "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca"];

// ---- random expressions

let state = BigInt(seed);
function below(n) {
  state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number((state >> 33n) % BigInt(n));
}
const pick = (list) => list[below(list.length)];

const LIMITS = {second: [0, 59], minute: [0, 59], hour: [0, 23], day: [1, 31], month: [1, 12],
                weekday: [0, 6]};
const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

function item(name) {
  const [min, max] = LIMITS[name];
  const from = min + below(max - min + 1);
  const to = from + below(max - from + 1);
  const words = name === "weekday" ? DAYS : name === "month" ? MONTHS : null;
  const said = (value) => (words && below(2) ? words[value - min] : String(value));
  const choices = [() => said(from), () => said(from), () => `${said(from)}-${said(to)}`,
                   () => `${from}-${to}/${1 + below(4)}`, () => `*/${1 + below(max)}`];
  if (name === "day") choices.push(() => "L", () => `${1 + below(31)}W`, () => "LW");
  if (name === "weekday") choices.push(() => `${said(from)}#${1 + below(5)}`, () => `${from}L`);
  return pick(choices)();
}

function field(name, starInSixth) {
  if (below(6) < starInSixth) return name === "weekday" && !below(4) ? "?" : "*";
  return Array.from({length: 1 + below(3) * below(2)}, () => item(name)).join(",");
}

function expression() {
  const seconds = below(5) === 0;
  const fields = [["minute", 1], ["hour", 2], ["day", 3], ["month", 4], ["weekday", 3]];
  if (seconds) fields.unshift(["second", 1]);
  return {text: fields.map(([name, stars]) => field(name, stars)).join(" "), seconds};
}

// ---- the three

function ask(run) {
  try {
    return {runs: run()};
  } catch (error) {
    return {refused: (error.stderr ?? error.message).toString().trim().split("\n")[0]};
  }
}

const fromBelfry = (e, zone, from) => ask(() => JSON.parse(execFileSync(
  belfry, ["cron", e.text, "--tz", zone, "--from", from.toISOString(), "--count", String(RUNS),
           "-o", "json", ...(e.seconds ? ["--seconds"] : [])],
  {stdio: ["ignore", "pipe", "pipe"]})).next_runs.map((text) => Date.parse(text)));

// There ? stands for the value of the moment at which the job was made, and the last Friday is FRI#L.
const toCroner = (text) => text.replaceAll("?", "*").replaceAll(/\b(\d)L\b/g, "$1#L");

const fromCroner = (e, zone, from) => ask(() => {
  const cron = new Cron(toCroner(e.text), {timezone: zone, paused: true});
  return cron.nextRuns(RUNS, from).map((date) => date.getTime());
});

const fromParser = (e, zone, from) => ask(() => {
  const cron = CronExpressionParser.parse(e.text, {currentDate: from, tz: zone});
  return Array.from({length: RUNS}, () => cron.next().getTime());
});

// ---- comparing

const formats = new Map(ZONES.map((zone) => [zone, new Intl.DateTimeFormat(
  "en", {timeZone: zone, timeZoneName: "longOffset", hour: "numeric"})]));
const offset = (zone, at) => formats.get(zone).formatToParts(at)
  .find((part) => part.type === "timeZoneName").value;
const isCalm = (zone, at) => offset(zone, at - 1.1 * DAY) === offset(zone, at + 1.1 * DAY);

/** The runs that both lists reach, without restless nights. */
function comparable(a, b, zone) {
  const end = Math.min(a.at(-1), b.at(-1));
  return [a, b].map((runs) => runs.filter((at) => at <= end && isCalm(zone, at)).join());
}

const dayFields = (e) => e.text.split(" ").slice(-3).filter((_, i) => i !== 1);

/** Whether all that differs is that they leave out some of the first days of March. */
function lacksEarlyMarch(us, them, zone) {
  if (!us.runs || !them.runs) return false;
  const end = Math.min(us.runs.at(-1), them.runs.at(-1));
  const differ = (a, b) => a.filter((at) => at <= end && !b.includes(at) && isCalm(zone, at));
  const local = new Intl.DateTimeFormat("sv", {timeZone: zone, month: "2-digit", day: "2-digit"});
  return !differ(them.runs, us.runs).length
    && differ(us.runs, them.runs).every((at) => /^0[123]\/03$|^03-0[123]$/.test(local.format(at)));
}

/** Why a difference is no surprise: [who, how to tell it, the reason]. Told at length in README.md. */
const known = [
  ["croner", (e, them) => them.refused && /W/.test(e.text), "no W"],
  ["croner", (e, them) => them.refused && /L,(.*,)?L/.test(e.text), "L once in a list"],
  ["croner", (e) => /(SUN|\b0)-SUN/.test(e.text), "SUN-SUN is the whole week"],
  ["croner", (e, them, us, zone) => lacksEarlyMarch(us, them, zone), "February has 31 days"],
  ["parser", (e, them) => them.refused && /W/.test(e.text), "no W"],
  ["parser", (e, them, us, zone) => /loop limit/.test(them.refused) && zone === "Australia/Lord_Howe",
   "lost on a night of half an hour"],
  ["parser", (e, them) => /duplicate values/.test(them.refused), "no value twice"],
  ["parser", (e, them) => them.refused && /#/.test(e.text) && /,/.test(dayFields(e)[1]),
   "no # in a list"],
  ["both", (e) => dayFields(e).some((f) => /^\*\/|^\*,/.test(f)), "a star with a step restricts"],
];

function reasonFor(who, e, us, them, zone) {
  return known.find(([whom, test]) => (whom === who || whom === "both") && test(e, them, us, zone))
    ?.[2];
}

const tally = {};
let failed = 0;
let compared = 0;
for (let i = 0; i < count; i++) {
  const e = expression();
  const zone = pick(ZONES);
  const from = new Date(Date.UTC(2024 + below(10), below(12), 1 + below(28), below(24), below(60)));
  const us = fromBelfry(e, zone, from);
  for (const [who, ask] of [["croner", fromCroner], ["parser", fromParser]]) {
    const them = ask(e, zone, from);
    let same = Boolean(us.refused) === Boolean(them.refused);
    if (us.runs && them.runs && us.runs.length && them.runs.length) {
      const [ours, theirs] = comparable(us.runs, them.runs, zone);
      same = ours === theirs;
      compared += ours.split(",").length;
    }
    if (same) continue;
    const reason = reasonFor(who, e, us, them, zone);
    tally[`${who}: ${reason}`] = (tally[`${who}: ${reason}`] ?? 0) + 1;
    if (reason) continue;
    failed++;
    const show = (x) => x.refused ?? x.runs.slice(0, 4).map((at) => new Date(at).toISOString());
    console.log(who, JSON.stringify(e.text), zone, from.toISOString(), "\n  belfry:", show(us),
                "\n  they:  ", show(them));
  }
}
console.log(`seed ${seed}: ${count} expressions, ${compared} runs compared`, tally);
console.log(`${count - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
