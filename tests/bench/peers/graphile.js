// graphile-worker, with its bulk API and its local queue, in one process: node graphile.js URL JOBS
//
// The settings are those of its own performance test, with more of everything where that was faster
// here; completions are gathered for a moment. Latency is measured without the local queue, which
// trades it away.
'use strict';
const { run, makeWorkerUtils, Logger } = require('graphile-worker');
const { Pool } = require('pg');
const { submitAll, sleep, nowMs, quantile, print, latencies } = require('./common.js');

const url = process.argv[2];
const jobs = Number(process.argv[3]);
const LATENCIES = Number(process.argv[4] || 300);
const logger = new Logger(() => () => {});

const start = (pool, taskList, worker) =>
  run({ pgPool: pool, taskList, noHandleSignals: true, preset: { worker: { logger, ...worker } } });

const rowsLeft = async (pool) =>
  Number((await pool.query('SELECT count(*) FROM graphile_worker._private_jobs')).rows[0].count);

const life = async (pool, utils) => {
  let done = 0;
  const runner = await start(pool, { noop: async () => { done++; } }, {
    concurrentJobs: 96,
    localQueue: { size: 2000 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    pollInterval: 50,
  });
  const begun = nowMs();
  await submitAll(jobs, (count) =>
    utils.addJobs(Array.from({ length: count }, () => ({ identifier: 'noop', payload: {} }))));
  while (done < jobs) await sleep(2);
  while ((await rowsLeft(pool)) > 0) await sleep(2); // a completion is a deletion, and durable then
  const seconds = (nowMs() - begun) / 1000;
  await runner.stop();
  if (done !== jobs) throw new Error(`${done} runs of ${jobs} jobs`);
  return jobs / seconds;
};

const latency = async (pool, utils) => {
  let tell = null;
  const runner = await start(pool, { ping: async () => tell(nowMs()) }, { concurrentJobs: 4 });
  const times = await latencies(LATENCIES, () => utils.addJob('ping', {}), (resolve) => {
    tell = resolve;
  });
  await runner.stop();
  return times;
};

const main = async () => {
  const pool = new Pool({ connectionString: url, max: 12 });
  const utils = await makeWorkerUtils({ pgPool: pool, preset: { worker: { logger } } });
  await utils.migrate();
  const jobs_per_s = await life(pool, utils);
  const times = await latency(pool, utils);
  print({ jobs_per_s, start_p50_ms: quantile(times, 0.5), start_p99_ms: quantile(times, 0.99) });
  await utils.release();
  await pool.end();
};

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
