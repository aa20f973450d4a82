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
import { formatInstant } from '../../../contract/instant.js';
import {
  scheduledTaskToDto,
  type ChangeScheduledTaskBody,
  type CreateScheduledTaskBody,
  type Exported,
  type RunScheduledTaskBody,
  type ScheduledTaskDto,
  type ScheduledTaskListDto,
  type StartedRunDto,
} from '../../declarations/exports/scheduled-task.resource.js';
import {
  taskToDto,
  type TaskDownloadDto,
  type TaskDto,
  type TaskListDto,
} from '../../declarations/exports/task.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import type { PageRequest } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';
import { downloadTask } from './download-task.js';
import {
  changeScheduledTask,
  createScheduledTask,
  listScheduledTasks,
  listTasks,
  readScheduledTask,
  readTask,
  removeScheduledTask,
  runScheduledTask,
  type TaskDependencies,
} from './scheduled-task-operations.js';

/** Which scheduled tasks are listed; those that are published, newest first. */
export interface ScheduledTasksQuery extends PageRequest {
  /** @maxLength 255 */
  connection_id?: string;
  entity_type?: Exported;
  interval?: '15MIN' | '30MIN' | 'hourly' | 'daily';
  enabled?: boolean;
}

/** Which runs are listed. */
export interface TasksQuery extends ListQuery {
  /** @maxLength 255 */
  scheduled_task_id?: string;
  task_status?: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED';
  entity_type?: Exported;
}

@Route('v1/tasks')
@Tags('Tasks')
export class TasksController extends Controller {
  constructor(private readonly dependencies: TaskDependencies) {
    super();
  }

  /**
   * Each window becomes one file in the store of the connection.
   * @summary Create a scheduled task
   */
  @Post('scheduled')
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', {
    entity: 'scheduled_task',
    access: 'write',
    versioned: true,
    notFound: true,
  })
  public async createScheduledTask(
    @Request() request: HttpRequest,
    @Body() body: CreateScheduledTaskBody,
  ): Promise<ScheduledTaskDto> {
    const created = await createScheduledTask(this.dependencies, occasionOf(request), body);
    const row = accepted(created);
    this.setStatus(201);
    tagVersion(this, row.version);
    return scheduledTaskToDto(row);
  }

  /** @summary List scheduled tasks */
  @Get('scheduled')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'read' })
  public async listScheduledTasks(
    @Request() request: HttpRequest,
    @Queries() query: ScheduledTasksQuery,
  ): Promise<ScheduledTaskListDto> {
    const { limit, offset, connection_id, entity_type, interval, enabled } = query;
    const page = await listScheduledTasks(this.dependencies, occasionOf(request), {
      request: { ...listRequestFrom({}), limit, offset },
      connectionId: connection_id,
      entityType: entity_type,
      interval,
      enabled,
    });
    return pageToDto(accepted(page), scheduledTaskToDto);
  }

  /** @summary Read a scheduled task */
  @Get('scheduled/{id}')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'read', versioned: true })
  public async readScheduledTask(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ScheduledTaskDto> {
    const row = accepted(await readScheduledTask(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, row.version);
    return scheduledTaskToDto(row);
  }

  /**
   * What was missed while it was disabled is made up, at most seven days back.
   * @summary Enable or disable a scheduled task
   */
  @Put('scheduled/{id}')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'write', versioned: true })
  public async changeScheduledTask(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeScheduledTaskBody,
  ): Promise<ScheduledTaskDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const changed = await changeScheduledTask(this.dependencies, occasionOf(request), change);
    const row = accepted(changed);
    tagVersion(this, row.version);
    return scheduledTaskToDto(row);
  }

  /** @summary Remove a scheduled task */
  @Delete('scheduled/{id}')
  @SuccessResponse(204, 'No content')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'write' })
  public async removeScheduledTask(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<void> {
    accepted(await removeScheduledTask(this.dependencies, occasionOf(request), id));
    this.setStatus(204);
  }

  /**
   * Exports a window now; poll the task. A window that was exported before writes the same file.
   * @summary Run a scheduled task
   */
  @Post('scheduled/{id}/run')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'write', rate: 'heavy' })
  public async runScheduledTask(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: RunScheduledTaskBody,
  ): Promise<StartedRunDto> {
    const begun = await runScheduledTask(this.dependencies, occasionOf(request), { id, body });
    const { taskId, startMs, endMs, mode } = accepted(begun);
    return {
      workflow_id: taskId,
      message: `poll /tasks/${taskId} until it is COMPLETED or FAILED`,
      start_time: formatInstant(startMs),
      end_time: formatInstant(endMs),
      mode,
    };
  }

  /** @summary List tasks */
  @Get()
  @Extension('x-operation', { entity: 'task', access: 'read' })
  public async listTasks(
    @Request() request: HttpRequest,
    @Queries() query: TasksQuery,
  ): Promise<TaskListDto> {
    const page = await listTasks(this.dependencies, occasionOf(request), {
      request: listRequestFrom(query),
      scheduledTaskId: query.scheduled_task_id,
      status: query.task_status,
      entityType: query.entity_type,
    });
    return pageToDto(accepted(page), taskToDto);
  }

  /**
   * An address at the store of the connection that answers the file, signed for 15 minutes.
   * @summary Download the file of a task
   */
  @Get('{id}/download')
  @Extension('x-operation', { entity: 'task', access: 'read' })
  public async downloadTask(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<TaskDownloadDto> {
    return {
      download_url: accepted(await downloadTask(this.dependencies, occasionOf(request), id)),
    };
  }

  /** @summary Read a task */
  @Get('{id}')
  @Extension('x-operation', { entity: 'task', access: 'read' })
  public async readTask(@Request() request: HttpRequest, @Path() id: string): Promise<TaskDto> {
    return taskToDto(accepted(await readTask(this.dependencies, occasionOf(request), id)));
  }
}
