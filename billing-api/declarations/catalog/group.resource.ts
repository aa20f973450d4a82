import type { DateTime, MetadataDto, ListDto, RecordStatusDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import {
  choice,
  nameText,
  plainText,
  required,
  type WireType,
} from '../../records/standard/members.js';

const from = 'declarations/catalog/group.resource.js';
export const GROUP_ENTITY_TYPE: WireType<GroupEntityType> = { name: 'GroupEntityType', from };

export const GROUPS = defineResource({
  name: 'group',
  idPrefix: 'group',
  table: 'groups',
  columns: {
    name: required(nameText({ max: 255 })),
    entity_type: required(choice(['price', 'feature'], GROUP_ENTITY_TYPE)),
    lookup_key: required(plainText({ minLength: 1, maxLength: 255 })),
  },
  unique: { groups_lookup_key: 'lookup_key' },
  removal: 'archived',
});
export type GroupRow = RecordOf<typeof GROUPS>;

export type GroupEntityType = 'price' | 'feature';

/** Features or prices that belong together, such as all that have to do with storage. */
export interface GroupDto {
  id: string;
  name: string;
  lookup_key: string;
  entity_type: GroupEntityType;
  /** The published records whose `group_id` names the group, oldest first. */
  entity_ids: string[];
  status: RecordStatusDto;
  metadata: MetadataDto;
  created_at: DateTime;
  updated_at: DateTime;
}

export interface GroupListDto extends ListDto<GroupDto> {}

export function groupToDto(row: GroupRow, entityIds: readonly string[]): GroupDto {
  const { id, name, lookup_key, entity_type, status, metadata, created_at, updated_at } =
    recordToDto(GROUPS, row);
  const own = { id, name, lookup_key, entity_type, entity_ids: [...entityIds] };
  return { ...own, status, metadata, created_at, updated_at };
}
