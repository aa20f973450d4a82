import {
  Body,
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
export class EnvironmentsController extends ApiController<WriteDependencies> {
  /** @summary List the environments of your tenant */
  @Get()
  @Extension('x-operation', { entity: 'environment', access: 'read' })
  public async listEnvironments(@Queries() query: ListQuery): Promise<EnvironmentListDto> {
    return pageToDto(await this.run(listEnvironments, query), environmentToDto);
  }

  /**
   * The setting tenant_limits says how many of each type there may be.
   * @summary Create an environment
   */
  @Post()
  @Extension('x-operation', { entity: 'environment', access: 'write' })
  @SuccessResponse(201, 'Created')
  public async createEnvironment(@Body() body: CreateEnvironmentBody): Promise<EnvironmentDto> {
    return environmentToDto(await this.run(createEnvironment, body));
  }

  /** @summary Read an environment */
  @Get('{id}')
  @Extension('x-operation', { entity: 'environment', access: 'read' })
  public async readEnvironment(@Path() id: string): Promise<EnvironmentDto> {
    return environmentToDto(await this.run(readEnvironment, id));
  }

  /** @summary Rename an environment */
  @Put('{id}')
  @Extension('x-operation', { entity: 'environment', access: 'write' })
  public async changeEnvironment(
    @Path() id: string,
    @Body() body: ChangeEnvironmentBody,
  ): Promise<EnvironmentDto> {
    return environmentToDto(await this.run(changeEnvironment, { id, body }));
  }
}
