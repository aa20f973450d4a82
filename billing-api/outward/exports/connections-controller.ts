import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import {
  connectionToDto,
  type ChangeConnectionBody,
  type ConnectionDto,
  type ConnectionListDto,
  type CreateConnectionBody,
} from '../../declarations/exports/connection.resource.js';
import type { MessageDto } from '../../records/record-dto.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import { pageToDto } from '../../records/search-records.js';
import {
  changeConnection,
  createConnection,
  listConnections,
  readConnection,
  removeConnection,
  type ConnectionDependencies,
} from './connection-operations.js';

@Route('v1/connections')
@Tags('Connections')
export class ConnectionsController extends ApiController<ConnectionDependencies> {
  /**
   * Its secrets are kept encrypted, and never answered.
   * @summary Create a connection
   */
  @Post()
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', { entity: 'connection', access: 'write', versioned: true })
  public async createConnection(@Body() body: CreateConnectionBody): Promise<ConnectionDto> {
    return connectionToDto(this.tagged(await this.run(createConnection, body)));
  }

  /** @summary List connections */
  @Get()
  @Extension('x-operation', { entity: 'connection', access: 'read' })
  public async listConnections(@Queries() query: ListQuery): Promise<ConnectionListDto> {
    return pageToDto(await this.run(listConnections, listRequestFrom(query)), connectionToDto);
  }

  /** @summary Read a connection */
  @Get('{id}')
  @Extension('x-operation', { entity: 'connection', access: 'read', versioned: true })
  public async readConnection(@Path() id: string): Promise<ConnectionDto> {
    return connectionToDto(this.matched(await this.run(readConnection, id)));
  }

  /** @summary Change a connection */
  @Put('{id}')
  @Extension('x-operation', { entity: 'connection', access: 'write', versioned: true })
  public async changeConnection(
    @Path() id: string,
    @Body() body: ChangeConnectionBody,
  ): Promise<ConnectionDto> {
    return connectionToDto(this.tagged(await this.run(changeConnection, this.changeOf(id, body))));
  }

  /**
   * Fails while a scheduled task needs it.
   * @summary Remove a connection
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'connection', access: 'write' })
  public async removeConnection(@Path() id: string): Promise<MessageDto> {
    await this.run(removeConnection, id);
    return { message: `connection ${id} is removed` };
  }
}
