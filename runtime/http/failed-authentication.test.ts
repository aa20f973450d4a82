import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { clientAddressOf, FailedAuthentication } from './failed-authentication.js';

/** A request from an address, and what proxies say of it. */
function requestFrom(remoteAddress: string, forwardedFor?: string): IncomingMessage {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

describe('the address of a client', () => {
  test.for([
    ['10.0.0.1', undefined, 0, '10.0.0.1'],
    ['10.0.0.1', '1.2.3.4', 0, '10.0.0.1'],
    ['10.0.0.1', '1.2.3.4', 1, '1.2.3.4'],
    ['10.0.0.1', '6.6.6.6, 1.2.3.4', 1, '1.2.3.4'],
    ['10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.9', 2, '1.2.3.4'],
    ['10.0.0.1', undefined, 1, '10.0.0.1'],
    ['10.0.0.1', '1.2.3.4', 2, '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', undefined, 0, '2001:db8:1:2'],
    ['2001:db8::6', undefined, 0, '2001:db8:0:0'],
    ['::1', undefined, 0, '0:0:0:0'],
    ['::ffff:10.0.0.1', undefined, 0, '::ffff:10.0.0.1'],
  ] as const)(
    '%s, forwarded for %s by %i proxies, is %s',
    ([remote, forwarded, count, address]) => {
      expect(clientAddressOf(requestFrom(remote, forwarded), count)).toBe(address);
    },
  );
});

describe('failed authentication', () => {
  const A = requestFrom('1.1.1.1');
  const B = requestFrom('2.2.2.2');

  test('is exceeded at the limit, for this address and this second only', () => {
    let now = 0;
    const failed = new FailedAuthentication({ perSecond: 2 }, () => now);
    failed.note(A);
    expect(failed.isExceeded(A)).toBe(false);
    failed.note(A);
    expect([failed.isExceeded(A), failed.isExceeded(B)]).toEqual([true, false]);
    now = 999;
    expect(failed.isExceeded(A)).toBe(true);
    now = 1_000;
    expect(failed.isExceeded(A)).toBe(false);
    failed.note(A);
    expect(failed.isExceeded(A)).toBe(false);
  });

  test('has no limit at 0', () => {
    const failed = new FailedAuthentication({ perSecond: 0 });
    for (let count = 0; count < 100; count += 1) failed.note(A);
    expect([failed.isExceeded(A), failed.addressCount]).toEqual([false, 0]);
  });

  test('remembers a bounded number of addresses', () => {
    const failed = new FailedAuthentication({ perSecond: 1 });
    for (let index = 0; index < 30_000; index += 1) failed.note(requestFrom(`client-${index}`));
    expect(failed.addressCount).toBe(10_000);
    expect(failed.isExceeded(requestFrom('client-29999'))).toBe(true);
    expect(failed.isExceeded(requestFrom('client-0'))).toBe(false);
  });
});
