-- The shop's database: business tables and an outbox, all in one publication. Logical decoding reads what is committed.
create table customers (
  id bigint primary key,
  email text not null,
  name text not null,
  country text not null,
  updated_at timestamptz not null default clock_timestamp()
);
create table orders (
  id bigint primary key,
  customer_id bigint not null references customers,
  total_cents bigint not null,
  status text not null,
  updated_at timestamptz not null default clock_timestamp()
);
create table outbox (
  id bigint generated always as identity primary key,
  aggregatetype text not null,
  aggregateid text not null,
  type text not null,
  payload jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
-- The whole row before a change, so that a delete says what it deleted.
alter table customers replica identity full;
alter table orders replica identity full;
-- A truncated table would have no rows to delete one by one: the shop does not truncate.
create publication lake for table customers, orders, outbox with (publish = 'insert, update, delete');
