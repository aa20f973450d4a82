import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Queries,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
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
export class KeysController extends ApiController<
  WriteDependencies & { readonly forgetCallers: () => void }
> {
  /**
   * A super_admin sees all keys of the environment, everybody else their own.
   * @summary List API keys
   */
  @Get()
  @Extension('x-operation', { entity: 'secret', access: 'read' })
  public async listKeys(@Queries() query: ListQuery): Promise<SecretListDto> {
    return pageToDto(await this.run(listKeys, query), (key) => key);
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
  public async createKey(@Body() body: CreateKeyBody): Promise<CreatedSecretDto> {
    const { row, user, apiKey } = await this.run(createKey, body);
    return { secret: keyToDto(row, user), api_key: apiKey };
  }

  /**
   * Within a second no process accepts it any more.
   * @summary Revoke an API key
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'secret', access: 'write' })
  @SuccessResponse(204, 'Revoked')
  public async revokeKey(@Path() id: string): Promise<void> {
    await this.run(revokeKey, id);
  }
}
