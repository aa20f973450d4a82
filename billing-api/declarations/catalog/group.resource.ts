import { oneOf, text } from '../../records/columns.js';
import type {
  DateTime,
  MetadataDto,
  PaginationDto,
  RecordStatusDto,
  SearchBody,
} from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const GROUPS = defineResource({
  name: 'group',
  idPrefix: 'group',
  table: 'groups',
  columns: { name: text, entity_type: oneOf(['price', 'feature']), lookup_key: text },
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

export interface GroupListDto {
  items: GroupDto[];
  pagination: PaginationDto;
}

/** @example {"name": "Storage", "entity_type": "feature", "lookup_key": "storage"} */
export interface CreateGroupBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  entity_type: GroupEntityType;
  /** @minLength 1 @maxLength 255 */
  lookup_key: string;
  metadata?: MetadataDto;
}

export interface SearchGroupsBody extends SearchBody {
  entity_type?: GroupEntityType;
  lookup_key?: string;
  /** Upper and lower case are the same. */
  name_contains?: string;
}

export function groupToDto(row: GroupRow, entityIds: readonly string[]): GroupDto {
  const { id, name, lookup_key, entity_type, status, metadata, created_at, updated_at } =
    recordToDto(GROUPS, row);
  const own = { id, name, lookup_key, entity_type, entity_ids: [...entityIds] };
  return { ...own, status, metadata, created_at, updated_at };
}
