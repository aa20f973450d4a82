import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import { pageToDto } from '../../records/search-records.js';
import { archiveGroup, createGroup, readGroup, searchGroups } from './group-operations.js';
import type {
  CreateGroupBody,
  GroupDto,
  GroupListDto,
  SearchGroupsBody,
} from '../../declarations/catalog/group.resource.js';

@Route('v1/groups')
@Tags('Groups')
export class GroupsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Create a group of features or prices */
  @Post()
  @Extension('x-operation', { entity: 'group', access: 'write' })
  @SuccessResponse(201, 'Created')
  public async createGroup(
    @Request() request: HttpRequest,
    @Body() body: CreateGroupBody,
  ): Promise<GroupDto> {
    const group = accepted(await createGroup(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    return group;
  }

  /** @summary Search groups */
  @Post('search')
  @Extension('x-operation', { entity: 'group', access: 'read' })
  public async searchGroups(
    @Request() request: HttpRequest,
    @Body() body: SearchGroupsBody,
  ): Promise<GroupListDto> {
    const page = accepted(await searchGroups(this.dependencies, occasionOf(request), body));
    return pageToDto(page, (group) => group);
  }

  /** @summary Read a group with the ids of its records */
  @Get('{id}')
  @Extension('x-operation', { entity: 'group', access: 'read' })
  public async readGroup(@Request() request: HttpRequest, @Path() id: string): Promise<GroupDto> {
    return accepted(await readGroup(this.dependencies, occasionOf(request), id));
  }

  /**
   * Its records stay as they are, and still name it.
   * @summary Archive a group
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'group', access: 'write' })
  @SuccessResponse(204, 'Archived')
  public async archiveGroup(@Request() request: HttpRequest, @Path() id: string): Promise<void> {
    accepted(await archiveGroup(this.dependencies, occasionOf(request), id));
  }
}
