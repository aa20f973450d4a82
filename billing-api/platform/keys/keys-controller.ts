import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionWithRolesOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import type { ListQuery } from '../../records/list-request.js';
import { pageToDto } from '../../records/search-records.js';
import { createKey } from './create-key.js';
import { listKeys, revokeKey } from './key-operations.js';
import {
  keyToDto,
  type CreatedSecretDto,
  type CreateKeyBody,
  type SecretListDto,
} from '../../declarations/platform/key.resource.js';

@Route('v1/secrets/api/keys')
@Tags('API keys')
export class KeysController extends Controller {
  constructor(
    private readonly dependencies: WriteDependencies & { readonly forgetCallers: () => void },
  ) {
    super();
  }

  /**
   * A super_admin sees all keys of the environment, everybody else their own.
   * @summary List API keys
   */
  @Get()
  @Extension('x-operation', { entity: 'secret', access: 'read' })
  public async listKeys(
    @Request() request: HttpRequest,
    @Queries() query: ListQuery,
  ): Promise<SecretListDto> {
    const occasion = occasionWithRolesOf(request);
    const page = accepted(await listKeys(this.dependencies, occasion, query));
    return pageToDto(page, (key) => key);
  }

  /**
   * The answer tells the key once: only its SHA-256 is stored. The key works in the environment of
   * the request. A publishable key can only send events.
   * @summary Make an API key
   */
  @Post()
  @Extension('x-operation', {
    entity: 'secret',
    access: 'write',
    repeatable: false,
    notFound: true,
  })
  @SuccessResponse(201, 'Created')
  public async createKey(
    @Request() request: HttpRequest,
    @Body() body: CreateKeyBody,
  ): Promise<CreatedSecretDto> {
    const occasion = occasionWithRolesOf(request);
    const { row, user, apiKey } = accepted(await createKey(this.dependencies, occasion, body));
    this.setStatus(201);
    return { secret: keyToDto(row, user), api_key: apiKey };
  }

  /**
   * Within a second no process accepts it any more.
   * @summary Revoke an API key
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'secret', access: 'write' })
  @SuccessResponse(204, 'Revoked')
  public async revokeKey(@Request() request: HttpRequest, @Path() id: string): Promise<void> {
    accepted(await revokeKey(this.dependencies, occasionWithRolesOf(request), id));
  }
}
