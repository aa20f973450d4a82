import {
  GROUP_ENTITY_TYPE,
  GROUPS,
  groupToDto,
} from '../../declarations/catalog/group.resource.js';
import { composedAnswers } from '../../records/standard/answers.js';
import { containedText, equalChoice, equalText } from '../../records/standard/search-members.js';
import { answeredRoutes } from '../../records/standard/standard-routes.js';
import { groupsToDto } from './groups-store.js';

const from = 'declarations/catalog/group.resource.js';
const answers = composedAnswers(GROUPS, {
  types: { one: { name: 'GroupDto', from }, list: { name: 'GroupListDto', from } },
  created: (row) => groupToDto(row, []),
  read: groupsToDto,
});

export const GROUP_ROUTES = answeredRoutes(GROUPS, answers, {
  path: 'groups',
  tag: 'Groups',
  entity: 'group',
  create: {
    summary: 'Create a group of features or prices',
    example: { name: 'Storage', entity_type: 'feature', lookup_key: 'storage' },
  },
  search: {
    by: {
      entity_type: equalChoice('entity_type', GROUP_ENTITY_TYPE),
      lookup_key: equalText('lookup_key'),
      name_contains: containedText('name'),
    },
  },
  read: { summary: 'Read a group with the ids of its records' },
  remove: {
    description: 'Its records stay as they are, and still name it.',
    guards: [],
    answers: 'nothing',
  },
});
