// Submits a job from a transaction of one's own, with pg: the job exists if and only if the order does.
//
//   npm install pg && node examples/sql/submit.js postgres://shop@localhost/belfry
const { Client } = require('pg');

// The order, and in the same transaction the job that sends its receipt.
async function placeOrder(client, customer) {
  await client.query('BEGIN');
  try {
    const { rows: [order] } = await client.query(
      'INSERT INTO orders (customer) VALUES ($1) RETURNING id', [customer]);
    const job = {
      name: `receipt-js-${order.id}`,
      command: ['echo', `a receipt for order ${order.id}`],
      idempotency_key: `receipt-js-${order.id}`,
    };
    const { rows: [submission] } = await client.query(
      'SELECT belfry.submit($1) AS ticket', [JSON.stringify(job)]);
    if (customer === '') throw new Error('an order needs a customer');
    await client.query('COMMIT');
    return submission.ticket;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function main() {
  const client = new Client({ connectionString: process.argv[2] });
  await client.connect();
  await client.query('CREATE TEMPORARY TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY, customer text)');
  console.log('submission', await placeOrder(client, 'ada'));
  await placeOrder(client, '').catch((error) => console.log('nothing was submitted:', error.message));
  await client.end();
}

main();
