import { Extension, Get, Path, Post, Queries, Route, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { pageToDto } from '../../records/search-records.js';
import type { WriteDependencies } from '../../records/unit.js';
import { jobToDto, type JobDto, type JobListDto, type JobsQuery } from './job-item.js';
import { readJobs } from './read-jobs.js';
import { retryJob } from './retry-job.js';

@Route('v1/jobs')
@Tags('Jobs')
export class JobsController extends ApiController<WriteDependencies> {
  /**
   * What the environment has to do beside its requests, oldest first: what waits, what is running,
   * and what failed too often, with the reason. For a super_admin.
   * @summary List jobs
   */
  @Get()
  @Extension('x-operation', { entity: 'job', access: 'read' })
  public async listJobs(@Queries() query: JobsQuery): Promise<JobListDto> {
    return pageToDto(await this.run(readJobs, query), jobToDto);
  }

  /**
   * Runs a parked job again: it is due at once, and is tried as often as a new one. Mend the cause
   * of its failure first. For a super_admin.
   * @summary Run a parked job again
   */
  @Post('{id}/retry')
  @Extension('x-operation', { entity: 'job', access: 'write' })
  @SuccessResponse(200, 'The job, which waits again')
  public async retryJob(@Path() id: string): Promise<JobDto> {
    return jobToDto(await this.run(retryJob, id));
  }
}
