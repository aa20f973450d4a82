import type { paths } from './generated/api.js';

/** The paths of the document, as `/customers/{id}`. */
export type ApiPath = keyof paths;
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

type Lower = { GET: 'get'; POST: 'post'; PUT: 'put'; DELETE: 'delete' };

/** The paths that have an operation of this method. */
export type PathOf<M extends Method> = {
  [P in ApiPath]: paths[P] extends Record<Lower[M], { responses: unknown }> ? P : never;
}[ApiPath];

type OperationOf<M extends Method, P extends ApiPath> =
  paths[P] extends Record<Lower[M], infer Op> ? Op : never;

type Json<Content> = Content extends { 'application/json': infer Body } ? Body : unknown;
type ContentOf<Answer> = Answer extends { content: infer Content } ? Json<Content> : undefined;

/** What an operation answers when it succeeds. */
export type AnswerOf<M extends Method, P extends ApiPath> =
  OperationOf<M, P> extends { responses: infer Answers }
    ? ContentOf<Answers[keyof Answers & (200 | 201 | 202 | 204)]>
    : never;

type BodyOf<Op> = Op extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { readonly body: Body }
  : Op extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? { readonly body?: Body }
    : { readonly body?: never };

type PathParametersOf<Op> = Op extends { parameters: { path: infer Parameters } }
  ? { readonly path: Parameters }
  : { readonly path?: never };

type QueryOf<Op> = Op extends { parameters: { query?: infer Query } }
  ? { readonly query?: Query }
  : { readonly query?: never };

/** What a call gives beside its method and path, as the document says. */
export type CallOptions<M extends Method, P extends ApiPath> = BodyOf<OperationOf<M, P>> &
  PathParametersOf<OperationOf<M, P>> &
  QueryOf<OperationOf<M, P>> & {
    /** Makes a write happen once; made by the client when absent. */
    readonly idempotencyKey?: string;
    /** The version that must be there (ETag), as `"3"`. */
    readonly ifMatch?: string;
    readonly signal?: AbortSignal;
  };

type NeedsOptions<Op> = Op extends
  { parameters: { path: object } } | { requestBody: { content: unknown } }
  ? true
  : false;

/** Options may be left out where nothing of them is needed. */
export type OptionsArgument<M extends Method, P extends ApiPath> =
  NeedsOptions<OperationOf<M, P>> extends true
    ? [options: CallOptions<M, P>]
    : [options?: CallOptions<M, P>];

/** The type of one item of the list that an operation answers. */
export type ItemOf<M extends Method, P extends ApiPath> =
  AnswerOf<M, P> extends { items: readonly (infer Item)[] } ? Item : never;
