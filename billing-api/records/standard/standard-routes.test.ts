import { describe, expect, it } from 'vitest';
import type { MetadataDto } from '../record-dto.js';
import { MemberReader } from '../member-rules.js';
import { nullable, recordVersion, text } from '../columns.js';
import { defineResource } from '../resource.js';
import type { AllTrue, Same } from './compare-types.js';
import {
  changeable,
  nameText,
  optional,
  positiveDecimal,
  required,
  type ChangeBodyOf,
  type CreateBodyOf,
} from './members.js';
import { readChangeBody, readCreateBody } from './read-members.js';
import { standardRoutes } from './standard-routes.js';

const columns = {
  name: changeable(required(nameText({ max: 20 }))),
  nickname: changeable(optional(nameText({ max: 20 }))),
  rate: optional(positiveDecimal),
  version: recordVersion,
};
const declared = { name: 'shop', idPrefix: 'shop', table: 'shops', removal: 'archived' } as const;
const SHOPS = defineResource({ ...declared, columns });

describe('what a request gives', () => {
  it('is read by the rule of each column, and what is absent is null', () => {
    const reader = new MemberReader();
    const read = readCreateBody(reader, SHOPS, { name: ' Corner ', rate: '1.50' });
    expect(read).toEqual({ name: 'Corner', nickname: null, rate: '1.5', metadata: {} });
    expect(reader.refusal()).toBeNull();
  });

  it('is refused with every problem at once', () => {
    const reader = new MemberReader();
    readCreateBody(reader, SHOPS, { name: ' ', rate: '0' });
    expect(reader.refusal()?.details).toEqual({
      name: 'must not be empty',
      rate: 'must be greater than 0',
    });
  });

  it('changes the members that are there, clears those that are null, and no other', () => {
    const reader = new MemberReader();
    const body = { name: 'New', nickname: null, rate: '2', metadata: null };
    expect(readChangeBody(reader, SHOPS, body)).toEqual({
      name: 'New',
      nickname: null,
      metadata: {},
    });
    expect(reader.refusal()).toBeNull();
  });
});

const routes = { path: 'shops', tag: 'Shops', entity: 'shop' };

/** Checked by the compiler: nothing of it needs to run. */
describe('what does not compile', () => {
  it('is a member without a rule', () => {
    // @ts-expect-error A plain column does not say how a request gives it.
    expect(required(text)).toMatchObject({ atCreation: 'required' });
  });

  it('is a column that neither a request nor the table fills', () => {
    const owned = defineResource({ ...declared, columns: { ...columns, owner: nullable(text) } });
    const create = { example: { name: 'Corner' } };
    // @ts-expect-error Nothing gives the owner of a new record.
    expect(standardRoutes(owned, { ...routes, create }).resource).toBe(owned);
    const fill = () => ({ owner: null });
    expect(standardRoutes(owned, { ...routes, create: { ...create, fill } }).resource).toBe(owned);
  });

  it('is an example that breaks the body', () => {
    // @ts-expect-error A name is required.
    const wrong = standardRoutes(SHOPS, { ...routes, create: { example: { rate: '1' } } });
    expect(wrong.resource).toBe(SHOPS);
  });

  it('is a generated type that lacks a member, or has one too many, or takes null', () => {
    type Create = CreateBodyOf<typeof columns>;
    type Right = { name: string; nickname?: string; rate?: string; metadata?: MetadataDto };
    const right: Same<Right, Create> = true;
    const lacks: Same<Omit<Right, 'rate'>, Create> = false;
    const more: Same<Right & { size?: string }, Create> = false;
    const nulls: Same<
      { name?: string | null; nickname?: string | null; metadata?: MetadataDto | null },
      ChangeBodyOf<typeof columns>
    > = false;
    // @ts-expect-error One of the comparisons is false.
    const all: AllTrue<[true, false]> = [true, false];
    expect([right, lacks, more, nulls, all]).toEqual([true, false, false, false, [true, false]]);
  });
});
