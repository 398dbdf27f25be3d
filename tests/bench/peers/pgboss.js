// pg-boss, with its bulk calls, in one process: node pgboss.js URL JOBS
//
// Its workers look for jobs every half second at most, so a rate measured with them is that of the
// pause; fetch and complete in large batches are its fastest way. For latency a worker is notified
// by the process that sent the job, which is the fastest way it knows.
'use strict';
const { Client } = require('pg');
const PgBoss = require('pg-boss');
const { BATCH, submitAll, nowMs, sleep, quantile, print, latencies } = require('./common.js');

const url = process.argv[2];
const jobs = Number(process.argv[3]);
const LATENCIES = Number(process.argv[4] || 300);
// As many at once as belfry's worker has slots; with 5000 at a time it took twice as many a second.
const FETCH = 1000;
const FETCHERS = 2;

// Without statistics PostgreSQL plans its queries for an empty table, at a third of the speed.
const warmUp = async (boss) => {
  await boss.insert(Array.from({ length: BATCH }, () => ({ name: 'noop', data: {} })));
  const got = await boss.fetch('noop', { batchSize: BATCH });
  await boss.complete('noop', got.map((job) => job.id));
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('ANALYZE');
  await client.end();
};

const life = async (boss) => {
  let done = 0;
  const fetcher = async () => {
    while (done < jobs) {
      const got = await boss.fetch('noop', { batchSize: FETCH });
      if (got.length === 0) {
        await sleep(1);
        continue;
      }
      await boss.complete('noop', got.map((job) => job.id));
      done += got.length;
    }
  };
  await boss.createQueue('noop');
  await warmUp(boss);
  const begun = nowMs();
  const work = Promise.all(Array.from({ length: FETCHERS }, fetcher));
  await submitAll(jobs, (count) =>
    boss.insert(Array.from({ length: count }, () => ({ name: 'noop', data: {} }))));
  await work;
  const seconds = (nowMs() - begun) / 1000;
  if (done !== jobs) throw new Error(`${done} runs of ${jobs} jobs`);
  return jobs / seconds;
};

const latency = async (boss) => {
  let tell = null;
  await boss.createQueue('ping');
  const worker = await boss.work('ping', { pollingIntervalSeconds: 0.5 }, async () => {
    tell(nowMs());
  });
  const send = async () => {
    await boss.send('ping', {});
    boss.notifyWorker(worker);
  };
  return latencies(LATENCIES, send, (resolve) => {
    tell = resolve;
  });
};

const main = async () => {
  const boss = new PgBoss({ connectionString: url, max: 8, supervise: false, schedule: false });
  boss.on('error', () => {});
  await boss.start();
  const jobs_per_s = await life(boss);
  const times = await latency(boss);
  print({ jobs_per_s, start_p50_ms: quantile(times, 0.5), start_p99_ms: quantile(times, 0.99) });
  await boss.stop({ graceful: false });
  process.exit(0);
};

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
