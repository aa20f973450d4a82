import { Controller } from '@tsoa/runtime';
import type { Request } from 'express';
import type { RequestActor } from '../records/occasion.js';
import type { Refusal } from '../records/refusal.js';
import { accepted } from './http-failure.js';
import { occasionWithRolesOf, type OccasionWithRoles } from './request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from './versions.js';

/** What a request asks for; it runs where and on whose behalf the request is made. */
type Operation<Needs, Input extends readonly unknown[], Value> = (
  dependencies: Needs,
  occasion: OccasionWithRoles<RequestActor>,
  ...input: Input
) => Promise<Value | Refusal>;

type ChangeTarget = { readonly id: string; readonly isExpected: (version: number) => boolean };

/** A record with its version, or with a row that has one. Null: it has no versions. */
type Versioned =
  { readonly version: number | null } | { readonly row: { readonly version: number } };

const versionOf = (record: Versioned): number | null =>
  'row' in record ? record.row.version : record.version;

/**
 * A controller of one request: `ioc.ts` makes a new one for each. Its operations are refused by
 * throwing the HttpFailure of the refusal.
 */
export abstract class ApiController<Needs = unknown> extends Controller {
  constructor(
    protected readonly dependencies: Needs,
    protected readonly request: Request,
  ) {
    super();
  }

  /** Where and on whose behalf the request is made. Only where the operation needs credentials. */
  protected get occasion(): OccasionWithRoles<RequestActor> {
    return occasionWithRolesOf(this.request);
  }

  /** The value of an operation. @throws HttpFailure when it is refused. */
  protected async run<Input extends readonly unknown[], Value>(
    operation: Operation<Needs, Input, Value>,
    ...input: Input
  ): Promise<Value> {
    return accepted(await operation(this.dependencies, this.occasion, ...input));
  }

  /** The record that the request changes, in a version that `If-Match` allows. */
  protected target(id: string): ChangeTarget {
    return { id, isExpected: expectedVersions(this.request) };
  }

  /** What the request changes of that record. */
  protected changeOf<Body>(id: string, body: Body): { target: ChangeTarget; body: Body } {
    return { target: this.target(id), body };
  }

  /** A record that was written; its version becomes the answer's `ETag`. */
  protected tagged<Record extends Versioned>(record: Record): Record {
    const version = versionOf(record);
    if (version !== null) tagVersion(this, version);
    return record;
  }

  /** A record that was read, as `tagged`. @throws HttpFailure where `If-Match` names others. */
  protected matched<Record extends Versioned>(record: Record): Record {
    const version = versionOf(record);
    if (version !== null) tagReadVersion(this, this.request, version);
    return record;
  }
}
