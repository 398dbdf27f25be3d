// What the drivers share: the load of `belfry bench life`, and percentiles of a list.
'use strict';

exports.BATCH = 500; // jobs per call, and
exports.AT_ONCE = 4; // calls under way, as `belfry bench life`

/** Calls submit(count) until so many jobs are acknowledged, AT_ONCE calls at a time. */
exports.submitAll = async (jobs, submit) => {
  let left = jobs;
  const client = async () => {
    while (left > 0) {
      const count = Math.min(left, exports.BATCH);
      left -= count;
      await submit(count);
    }
  };
  await Promise.all(Array.from({ length: exports.AT_ONCE }, client));
};

exports.sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

exports.nowMs = () => Number(process.hrtime.bigint()) / 1e6;

exports.quantile = (values, part) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
};

/** A name and a number on each line, as the C programs print. */
exports.print = (figures) => {
  for (const [name, value] of Object.entries(figures)) console.log(name, value);
};

/**
 * One job at a time, 5 ms apart: submit() returns when the job is acknowledged, and started is
 * told when it runs. Milliseconds from the call to the start.
 */
exports.latencies = async (count, submit, started) => {
  const times = [];
  for (let i = 0; i < count; i++) {
    await exports.sleep(5);
    const runs = new Promise((resolve) => started(resolve));
    const begun = exports.nowMs();
    await submit();
    times.push((await runs) - begun);
  }
  return times;
};
