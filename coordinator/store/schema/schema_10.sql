-- Format 10: the launches of the proof belong to those on which a verdict rests;
-- NULL for what is not known.  Every row ends in the checksum of the columns
-- before it; what was changed before is not found.
ALTER TABLE contestant ADD COLUMN proof_launches INTEGER;
ALTER TABLE contestant ADD COLUMN proof_varied INTEGER
  CHECK(proof_varied IN (0, 1));
ALTER TABLE owner ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE owner SET checksum=checksum_short(
  id);
ALTER TABLE run ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE run SET checksum=checksum_short(
  epoch, ended_utc, pid, machine, version, command, ending);
ALTER TABLE request ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE request SET checksum=checksum_short(
  id, folder, file, hosts_file, device, arch, settings);
ALTER TABLE sweep ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE sweep SET checksum=checksum_short(
  id, key, name, folder, file, hosts_file, spec, device, arch, facts,
  configurations, passed, settings, created_utc);
ALTER TABLE gate ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE gate SET checksum=checksum_short(
  sweep, position, name, kind, rule, why, rejected_first, rejected_alone);
ALTER TABLE shape ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE shape SET checksum=checksum_short(
  sweep, position, name, vars, floor_s, floor_name);
ALTER TABLE config ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE config SET checksum=checksum_short(
  key, sweep, point, baseline, params, warnings, source_key);
ALTER TABLE outcome ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE outcome SET checksum=checksum_short(
  config, shape, source_key, measure_key, outcome, reason, nonce, median_s,
  attempts, settled_utc);
ALTER TABLE host ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE host SET checksum=checksum_short(
  name, position, rate_usd_per_h, machine, boot_id, worker_version, toolkit,
  cpus, slots);
ALTER TABLE gpu ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE gpu SET checksum=checksum_short(
  uuid, host, position, name, driver, facts);
ALTER TABLE lease ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE lease SET checksum=checksum_short(
  epoch, id, config, shape, purpose, stage, round, attempt, host, gpu,
  leased_utc, ended_utc, ending);
ALTER TABLE interval ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE interval SET checksum=checksum_short(
  host, epoch, start_ns, end_ns, start_utc, category, lease);
ALTER TABLE event ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE event SET checksum=checksum_short(
  id, at_utc, level, name, text);
ALTER TABLE contest ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE contest SET checksum=checksum_short(
  pass, sweep, kind, seed, blocks, samples, alpha, floor, target, possible,
  cut, proof_hours, proof_usd, started_utc, ended_utc, ending, against,
  look_blocks, most_blocks, look_over_all);
ALTER TABLE contestant ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE contestant SET checksum=checksum_short(
  pass, position, config, source_key, role, reason, proof_launches,
  proof_varied);
ALTER TABLE contest_shape ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE contest_shape SET checksum=checksum_short(
  pass, position, shape, measure_key);
ALTER TABLE step ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE step SET checksum=checksum_short(
  sweep, position, kind, config, point, rung, time_s);
