-- Data as release 1 leaves it, in every table and column: what later migrations must carry over (migrations.db.test.ts).
-- Written once; a later release adds a file of its own and leaves this one as it is. Rows of one minute stand in two inserts,
-- hence in two parts, so that the engine has something to merge.

INSERT INTO ingest_gate_v1 (log_id, log_partition, epoch) VALUES ('log-a', 0, 7), ('log-a', 1, 2);

INSERT INTO events_v1 (tenant_id, environment_id, event_name, customer_key, timestamp, event_id, customer_id, source, properties,
  received_at, is_timestamp_given, log_id, log_partition, log_offset, record_index, appended_at) VALUES
  ('tenant_a', 'env_a', 'api_call', 'e:acme', '2026-01-05 10:00:30.123', 'event-1', NULL, 'web', {'region': 'eu', 'bytes': '1e3'},
   '2026-01-05 10:00:31.001', true, 'log-a', 0, 1, 0, '2026-01-05 10:00:31.002'),
  ('tenant_a', 'env_a', 'seats', 'i:cust_a', '2199-12-31 23:59:59.999', 'event-2', 'cust_a', '', {},
   '2026-02-05 10:00:31.001', false, 'log-a', 1, 2, 3, '2026-02-05 10:00:31.002');

INSERT INTO event_ids_v1 (log_id, log_partition, id_hash, log_offset, record_index, payload_hash, timestamp, is_timestamp_given,
  appended_at) VALUES
  ('log-a', 0, '0123456789abcdef', 1, 0, '01234567', '2026-01-05 10:00:30.123', true, '2026-01-05 10:00:31.002'),
  ('log-a', 1, 'fedcba9876543210', 2, 3, '76543210', '2199-12-31 23:59:59.999', false, '2026-02-05 10:00:31.002');

INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation, minute, source, group_key, event_count,
  unreadable_count, value_sum, value_time_sum, value_max, latest, uniques) VALUES
  ('tenant_a', 'env_a', 'e:acme', 'meter_sum', 1, '2026-01-05 10:00:00', 'web', '', 2, 1,
   '999999999999999999999999999999999999999.000000000000000001', '-30.5', '0', (0, 0, '', '0'), []),
  ('tenant_a', 'env_a', 'e:acme', 'meter_max', 2, '2026-01-05 10:00:00', 'web', 'eu', 1, 0, '0', '0', '7.25', (0, 0, '', '0'), []),
  ('tenant_a', 'env_a', 'i:cust_a', 'meter_latest', 3, '2199-12-31 23:59:00', '', '', 1, 0, '0', '0', '0',
   (7258118399999, 5, 'event-2', '1.5'), []),
  ('tenant_a', 'env_a', 'e:acme', 'meter_unique', 4, '2026-01-05 10:00:00', 'web', '', 2, 0, '0', '0', '0', (0, 0, '', '0'),
   ['0123456789abcdef', 'fedcba9876543210']);
INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation, minute, source, group_key, event_count) VALUES
  ('tenant_a', 'env_a', 'e:acme', 'meter_count', 5, '2026-01-05 10:00:00', 'web', '', 3),
  ('', '', '', '#batch', 0, '1970-01-01 00:00:00', 'log-a:0', '0:3', 1),
  ('tenant_a', 'env_a', '', '#accepted', 0, '2026-01-05 10:00:00', 'log-a:0', '0:3', 4);
INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation, minute, source, group_key, event_count,
  unreadable_count, value_sum, value_time_sum, value_max, latest, uniques) VALUES
  ('tenant_a', 'env_a', 'e:acme', 'meter_sum', 1, '2026-01-05 10:00:00', 'web', '', 1, 0, '-0.5', '1', '0', (0, 0, '', '0'), []),
  ('tenant_a', 'env_a', 'e:acme', 'meter_max', 2, '2026-01-05 10:00:00', 'web', 'eu', 1, 1, '0', '0', '7', (0, 0, '', '0'), []),
  ('tenant_a', 'env_a', 'e:acme', 'meter_unique', 4, '2026-01-05 10:00:00', 'web', '', 1, 0, '0', '0', '0', (0, 0, '', '0'),
   ['0123456789abcdef']);

INSERT INTO event_duplicates_v1 (log_id, log_partition, log_offset, record_index, tenant_id, environment_id, event_id, is_conflict, payload,
  received_at, appended_at) VALUES
  ('log-a', 0, 4, 0, 'tenant_a', 'env_a', 'event-1', false, '', '2026-01-05 11:00:00.001', '2026-01-05 11:00:00.002'),
  ('log-a', 1, 5, 1, 'tenant_a', 'env_a', 'event-1', true, '{"event_name":"api_call"}', '2026-01-05 12:00:00.001',
   '2026-01-05 12:00:00.002');

INSERT INTO dead_letters_v1 (log_id, log_partition, log_offset, reason, payload, appended_at) VALUES
  ('log-a', 1, 6, 'not_json', '{', '2026-01-05 13:00:00.002');
