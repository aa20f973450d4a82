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
import { ApiController } from '../../edge/api-controller.js';
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
export class TasksController extends ApiController<TaskDependencies> {
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
    @Body() body: CreateScheduledTaskBody,
  ): Promise<ScheduledTaskDto> {
    return scheduledTaskToDto(this.tagged(await this.run(createScheduledTask, body)));
  }

  /** @summary List scheduled tasks */
  @Get('scheduled')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'read' })
  public async listScheduledTasks(
    @Queries() query: ScheduledTasksQuery,
  ): Promise<ScheduledTaskListDto> {
    const { limit, offset, connection_id, entity_type, interval, enabled } = query;
    const page = await this.run(listScheduledTasks, {
      request: { ...listRequestFrom({}), limit, offset },
      connectionId: connection_id,
      entityType: entity_type,
      interval,
      enabled,
    });
    return pageToDto(page, scheduledTaskToDto);
  }

  /** @summary Read a scheduled task */
  @Get('scheduled/{id}')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'read', versioned: true })
  public async readScheduledTask(@Path() id: string): Promise<ScheduledTaskDto> {
    return scheduledTaskToDto(this.matched(await this.run(readScheduledTask, id)));
  }

  /**
   * What was missed while it was disabled is made up, at most seven days back.
   * @summary Enable or disable a scheduled task
   */
  @Put('scheduled/{id}')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'write', versioned: true })
  public async changeScheduledTask(
    @Path() id: string,
    @Body() body: ChangeScheduledTaskBody,
  ): Promise<ScheduledTaskDto> {
    return scheduledTaskToDto(
      this.tagged(await this.run(changeScheduledTask, this.changeOf(id, body))),
    );
  }

  /** @summary Remove a scheduled task */
  @Delete('scheduled/{id}')
  @SuccessResponse(204, 'No content')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'write' })
  public async removeScheduledTask(@Path() id: string): Promise<void> {
    await this.run(removeScheduledTask, id);
  }

  /**
   * Exports a window now; poll the task. A window that was exported before writes the same file.
   * @summary Run a scheduled task
   */
  @Post('scheduled/{id}/run')
  @Extension('x-operation', { entity: 'scheduled_task', access: 'write', rate: 'heavy' })
  public async runScheduledTask(
    @Path() id: string,
    @Body() body: RunScheduledTaskBody,
  ): Promise<StartedRunDto> {
    const { taskId, startMs, endMs, mode } = await this.run(runScheduledTask, { id, body });
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
  public async listTasks(@Queries() query: TasksQuery): Promise<TaskListDto> {
    const page = await this.run(listTasks, {
      request: listRequestFrom(query),
      scheduledTaskId: query.scheduled_task_id,
      status: query.task_status,
      entityType: query.entity_type,
    });
    return pageToDto(page, taskToDto);
  }

  /**
   * An address at the store of the connection that answers the file, signed for 15 minutes.
   * @summary Download the file of a task
   */
  @Get('{id}/download')
  @Extension('x-operation', { entity: 'task', access: 'read' })
  public async downloadTask(@Path() id: string): Promise<TaskDownloadDto> {
    return { download_url: await this.run(downloadTask, id) };
  }

  /** @summary Read a task */
  @Get('{id}')
  @Extension('x-operation', { entity: 'task', access: 'read' })
  public async readTask(@Path() id: string): Promise<TaskDto> {
    return taskToDto(await this.run(readTask, id));
  }
}
