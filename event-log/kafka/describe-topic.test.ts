import { expect, test } from 'vitest';
import { topicIdOf } from './describe-topic.js';

test.each([
  // A cluster without topic ids, and bytes whose base64 has characters that log ids do not.
  ['00000000-0000-0000-0000-000000000000', 'AAAAAAAAAAAAAAAAAAAAAA'],
  ['fbefbeff-fbef-4000-8000-00000000003f', '----__vvQACAAAAAAAAAPw'],
])('the id of topic %s stands in log ids as %s', (uuid, id) => {
  expect(topicIdOf(uuid)).toBe(id);
});
