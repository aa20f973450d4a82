import { describe, expect, it } from 'vitest';
import { DependencyError } from '../runtime/failure.js';
import { connectOutageOf, outageOf } from './outage.js';

const withCode = (code: string): Error => Object.assign(new Error('any text'), { code });
const wrapped = (error: Error): Error => new Error('outer', { cause: error });

describe('an error of PostgreSQL', () => {
  it.each([
    ['08006', 'connection failure'],
    ['25006', 'a node that only reads'],
    ['40001', 'serialization failure'],
    ['40P01', 'deadlock'],
    ['53300', 'too many connections'],
    ['57P01', 'shutdown by the administrator'],
    ['57P03', 'starting up'],
    ['55P03', 'lock not available'],
    ['57014', 'statement timeout'],
    ['ECONNREFUSED', 'nobody listens'],
    ['ECONNRESET', 'cut off'],
    ['ENOTFOUND', 'no such host'],
  ])('%s (%s) is an outage worth a retry', (code) => {
    for (const error of [withCode(code), wrapped(withCode(code))]) {
      expect(outageOf(error)).toMatchObject({ name: 'DependencyError', isRetryable: true });
    }
  });

  it.each([
    ['28P01', 'wrong password'],
    ['3D000', 'no such database'],
    ['58030', 'input or output error'],
    ['XX001', 'corrupted data'],
  ])('%s (%s) is an outage that a retry cannot end', (code) => {
    expect(outageOf(withCode(code))).toMatchObject({ name: 'DependencyError', isRetryable: false });
  });

  it.each([
    ['23505', 'violated unique constraint'],
    ['42501', 'row-level security'],
    ['42P01', 'no such table'],
    ['22012', 'division by zero'],
  ])('%s (%s) stays what it is', (code) => {
    const error = withCode(code);
    expect(outageOf(error)).toBe(error);
  });

  it('without a code is recognised by its class, not by its text', () => {
    const error = new Error('Connection terminated unexpectedly ECONNREFUSED 57P01');
    expect(outageOf(error)).toBe(error);
  });

  it('is always an outage while connecting', () => {
    expect(connectOutageOf(new Error('timeout expired')).isRetryable).toBe(true);
    expect(connectOutageOf(withCode('28P01')).isRetryable).toBe(false);
  });

  it('is not wrapped twice', () => {
    const outage = new DependencyError('once', { dependency: 'postgres', isRetryable: true });
    expect(outageOf(outage)).toBe(outage);
  });
});
