import {
  Body,
  Controller,
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
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import type { ListQuery } from '../../records/list-request.js';
import { pageToDto } from '../../records/search-records.js';
import {
  changeEnvironment,
  createEnvironment,
  listEnvironments,
  readEnvironment,
} from './environment-operations.js';
import {
  environmentToDto,
  type ChangeEnvironmentBody,
  type CreateEnvironmentBody,
  type EnvironmentDto,
  type EnvironmentListDto,
} from '../../declarations/platform/environment.resource.js';

@Route('v1/environments')
@Tags('Environments')
export class EnvironmentsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary List the environments of your tenant */
  @Get()
  @Extension('x-operation', { entity: 'environment', access: 'read' })
  public async listEnvironments(
    @Request() request: HttpRequest,
    @Queries() query: ListQuery,
  ): Promise<EnvironmentListDto> {
    const occasion = occasionOf(request);
    const page = accepted(await listEnvironments(this.dependencies, occasion, query));
    return pageToDto(page, environmentToDto);
  }

  /**
   * The setting tenant_limits says how many of each type there may be.
   * @summary Create an environment
   */
  @Post()
  @Extension('x-operation', { entity: 'environment', access: 'write' })
  @SuccessResponse(201, 'Created')
  public async createEnvironment(
    @Request() request: HttpRequest,
    @Body() body: CreateEnvironmentBody,
  ): Promise<EnvironmentDto> {
    const occasion = occasionOf(request);
    const environment = accepted(await createEnvironment(this.dependencies, occasion, body));
    this.setStatus(201);
    return environmentToDto(environment);
  }

  /** @summary Read an environment */
  @Get('{id}')
  @Extension('x-operation', { entity: 'environment', access: 'read' })
  public async readEnvironment(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<EnvironmentDto> {
    const occasion = occasionOf(request);
    return environmentToDto(accepted(await readEnvironment(this.dependencies, occasion, id)));
  }

  /** @summary Rename an environment */
  @Put('{id}')
  @Extension('x-operation', { entity: 'environment', access: 'write' })
  public async changeEnvironment(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeEnvironmentBody,
  ): Promise<EnvironmentDto> {
    const target = { id, body };
    const changed = await changeEnvironment(this.dependencies, occasionOf(request), target);
    return environmentToDto(accepted(changed));
  }
}
