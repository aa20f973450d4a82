/** Rules around the machine (SQL, ClickHouse, the calling code) that a world can leave out. */
export const WORLD_MUTATIONS = [
  'no_gate',
  'no_drain',
  'no_presence_check',
  'no_bound_below_batch',
  'no_epoch_guard',
  'no_intent_guard',
  'no_finish_guard',
  'marks_before_write',
  'filter_not_told',
  'filter_not_caught_up',
  'no_fsync',
  'half_inserts',
  'first_answer_counts',
  'gate_of_first_member',
  'drain_of_first_member',
  'refused_group_fenced',
  'group_sent_again',
  'refetch_newest_catalog',
  'start_offsets_from_next_offset',
  'no_min_version',
  'row_with_old_catalog',
  'pointer_first',
  'backfill_before_input_stands',
  'attempt_resumed',
  'completion_unguarded',
  'seen_version_retired',
  'erased_not_noted',
  'erased_under_intent',
] as const;

/** Rules of the machine that a wrapper around it breaks. */
export const MACHINE_MUTATIONS = [
  'retry_in_epoch',
  'refused_stage_sent_whole',
  'finish_before_last_insert',
  'one_stage',
  'commit_first',
  'replace_unchecked',
  'accept_short_refetch',
  'assume_intended',
  'skip_inspection',
  'refused_rows_kept',
  'refold_without_known_ids',
  'halts_on_old_row',
] as const;

export type WorldMutation = (typeof WORLD_MUTATIONS)[number];
export type MachineMutation = (typeof MACHINE_MUTATIONS)[number];
export type Mutation = WorldMutation | MachineMutation;
export const MUTATIONS: readonly Mutation[] = [...WORLD_MUTATIONS, ...MACHINE_MUTATIONS];
