import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  connectionToDto,
  type ChangeConnectionBody,
  type ConnectionDto,
  type ConnectionListDto,
  type CreateConnectionBody,
} from '../../declarations/exports/connection.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
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
export class ConnectionsController extends Controller {
  constructor(private readonly dependencies: ConnectionDependencies) {
    super();
  }

  /**
   * Its secrets are kept encrypted, and never answered.
   * @summary Create a connection
   */
  @Post()
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', { entity: 'connection', access: 'write', versioned: true })
  public async createConnection(
    @Request() request: HttpRequest,
    @Body() body: CreateConnectionBody,
  ): Promise<ConnectionDto> {
    const created = await createConnection(this.dependencies, occasionOf(request), body);
    const row = accepted(created);
    this.setStatus(201);
    tagVersion(this, row.version);
    return connectionToDto(row);
  }

  /** @summary List connections */
  @Get()
  @Extension('x-operation', { entity: 'connection', access: 'read' })
  public async listConnections(
    @Request() request: HttpRequest,
    @Queries() query: ListQuery,
  ): Promise<ConnectionListDto> {
    const list = listRequestFrom(query);
    const page = accepted(await listConnections(this.dependencies, occasionOf(request), list));
    return pageToDto(page, connectionToDto);
  }

  /** @summary Read a connection */
  @Get('{id}')
  @Extension('x-operation', { entity: 'connection', access: 'read', versioned: true })
  public async readConnection(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ConnectionDto> {
    const row = accepted(await readConnection(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, row.version);
    return connectionToDto(row);
  }

  /** @summary Change a connection */
  @Put('{id}')
  @Extension('x-operation', { entity: 'connection', access: 'write', versioned: true })
  public async changeConnection(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeConnectionBody,
  ): Promise<ConnectionDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const changed = await changeConnection(this.dependencies, occasionOf(request), change);
    const row = accepted(changed);
    tagVersion(this, row.version);
    return connectionToDto(row);
  }

  /**
   * Fails while a scheduled task needs it.
   * @summary Remove a connection
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'connection', access: 'write' })
  public async removeConnection(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await removeConnection(this.dependencies, occasionOf(request), id));
    return { message: `connection ${id} is removed` };
  }
}
