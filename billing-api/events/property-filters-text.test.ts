import { describe, expect, it } from 'vitest';
import { readPropertyFiltersText } from './property-filters-text.js';

describe('readPropertyFiltersText', () => {
  it('reads keys and their texts', () => {
    expect(readPropertyFiltersText('')).toEqual({});
    expect(readPropertyFiltersText('region:eu')).toEqual({ region: ['eu'] });
    expect(readPropertyFiltersText('region:eu,us;tier:gold')).toEqual({
      region: ['eu', 'us'],
      tier: ['gold'],
    });
    expect(readPropertyFiltersText('url:http://x')).toEqual({ url: ['http://x'] });
    expect(readPropertyFiltersText('region:')).toEqual({ region: [''] });
  });

  it('keeps keys that objects know', () => {
    const filters = readPropertyFiltersText('__proto__:a');
    expect(Object.entries(filters)).toEqual([['__proto__', ['a']]]);
  });

  it('says what is wrong with another form', () => {
    for (const text of ['region', ':eu', 'region:eu;', ';', 'a:b;c']) {
      expect(readPropertyFiltersText(text)).toContain('must have the form');
    }
    expect(readPropertyFiltersText('a:b;a:c')).toBe('must not name the key a twice');
  });
});
