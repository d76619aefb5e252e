"""A real Slurm on this one machine: controller, nodes, accounting, all private to one folder and one user.

Debian's packages suffice (envs/slurm.sh). Nothing outside the folder is read or written, no system service is used.
The nodes c1, c2 (partition cpu) and g1 (partition gpu, two GPUs of type pretend_80g) are all this machine; they claim
more cores and memory than it has.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import psutil

PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadbd", "mariadb-install-db", "mariadb", "sbatch", "sacct")
COMMANDS = ("sacct", "sacctmgr", "sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun", "sshare")
NODES = {"c1": "cpu", "c2": "cpu", "g1": "gpu"}
GPUS = 2
CPUS = 8
MEMORY_MB = 32000
ACCOUNT = "lab"
# Marks every process of one cluster; children inherit it.
MARK = "PRONOUN_TEST_CLUSTER"


def missing_programs():
    """Return the programs that are not installed."""
    return [name for name in PROGRAMS if not shutil.which(name, path=search_path())]


def search_path():
    """Return PATH with the folders of daemons, which users often lack."""
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"])


def free_ports(count):
    """Return port numbers that nobody listens on at this moment."""
    with_socket = [socket.socket() for _ in range(count)]
    for one in with_socket:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in with_socket]
    for one in with_socket:
        one.close()
    return ports


class Cluster:
    """The cluster that lives in one folder, whose path has at most 60 characters (Unix sockets).

    Args:
        accounting: Whether to start an accounting database.
    """

    def __init__(self, folder: Path, accounting: bool = True):
        self.folder = Path(folder).resolve()
        if len(str(self.folder)) > 60:
            raise ValueError(f"{self.folder}: too long for Unix sockets")
        self.accounting = accounting
        self.host = socket.gethostname().partition(".")[0]
        self.user = psutil.Process().username()
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(self.folder / "bin"), search_path()]),
            "LC_ALL": "C.UTF-8",
            "MYSQL_UNIX_PORT": str(self.folder / "mysql.sock"),
            MARK: str(self.folder),
        }

    # ---- up and down

    def up(self):
        """Write the configuration, start everything and wait until the nodes are idle."""
        for name in ("bin", "log", "pid", "spool", "state", "dev"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self.ports = dict(zip(["ctld", "dbd", *NODES], free_ports(2 + len(NODES)), strict=True))
        self._configure()
        folder = self.folder
        self._spawn(
            "munged", "--foreground", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.sock",
            f"--pid-file={folder}/munged.pid", f"--log-file={folder}/log/munged.log",
            f"--seed-file={folder}/munge.seed",
        )  # fmt: skip
        self._until(lambda: (folder / "munge.sock").exists(), "munge")
        if self.accounting:
            self._start_accounting()
        self.start_controller()
        if self.accounting:
            self.run("sacctmgr", "-i", "add", "account", ACCOUNT, "Description=test", "Organization=test")
            self.run("sacctmgr", "-i", "add", "user", self.user, f"account={ACCOUNT}", f"defaultaccount={ACCOUNT}")
        for node in NODES:
            self.start_node(node)
        self._until(lambda: self.node_states() == dict.fromkeys(NODES, "idle"), "idle nodes", seconds=90)

    def down(self):
        """End every process of this cluster, jobs and their steps included."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            mine = self.processes()
            for process in mine:
                _send(process, sign)
            psutil.wait_procs(mine, timeout=15)

    def processes(self):
        """Return all processes that carry this cluster's mark, but not the caller and its parents."""
        spared = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
        found = []
        for process in psutil.process_iter():
            try:
                if process.pid not in spared and process.environ().get(MARK) == str(self.folder):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    # ---- faults

    def start_controller(self):
        self._spawn("slurmctld", "-D", "-f", f"{self.folder}/slurm.conf")
        self._until(lambda: self.run("scontrol", "ping", check=False).returncode == 0, "the controller")

    def stop_controller(self):
        self._stop("slurmctld", signal.SIGTERM)

    def start_node(self, node):
        (self.folder / "spool" / node).mkdir(exist_ok=True)
        self._spawn("slurmd", "-D", "-f", f"{self.folder}/slurm.conf", "-N", node, name=f"slurmd-{node}")

    def kill_node(self, node):
        """Kill a node's daemon and all that runs on it, as a power cut would."""
        jobs = self.run("squeue", "--noheader", f"--nodelist={node}", "--states=R", "--format=%A").stdout.split()
        self._stop(f"slurmd-{node}", signal.SIGKILL)
        for process in self.processes():
            try:
                title = " ".join(process.cmdline())
                if title.startswith("slurmstepd: [") and title[13:].partition(".")[0] in jobs:
                    for one in [*process.children(recursive=True), process]:
                        _send(one, signal.SIGKILL)
            except psutil.Error:
                continue

    # ---- questions

    def run(self, *command, check=True):
        """Run one command of Slurm.

        Raises:
            RuntimeError: If it fails and ``check`` is true; says what it printed.
        """
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60, check=False, cwd=self.folder
        )
        if check and done.returncode:
            printed = done.stdout[-800:] + done.stderr[-800:]
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {printed}")
        return done

    def node_states(self):
        lines = self.run("sinfo", "--noheader", "-N", "--format=%N %t", check=False).stdout.split("\n")
        return dict(line.split() for line in lines if line)

    def queue(self):
        """Return the jobs that wait or run, as dicts of id, name, state, node, folder and comment."""
        keys = ("id", "name", "state", "node", "folder", "comment")
        lines = self.run("squeue", "--noheader", "--format=%A|%j|%T|%N|%Z|%k").stdout.splitlines()
        return [dict(zip(keys, line.split("|", len(keys) - 1), strict=True)) for line in lines]

    def accounts(self):
        """Return what the accounting database knows of all jobs, oldest first."""
        keys = ("JobIDRaw", "Comment", "Account", "Partition", "State", "ReqTRES", "Timelimit", "NodeList", "ExitCode",
                "Elapsed", "MaxRSS", "WorkDir")  # fmt: skip
        done = self.run("sacct", "-X", "-P", "-n", "--starttime=now-1days", f"--format={','.join(keys)}")
        return [dict(zip(keys, line.split("|"), strict=True)) for line in done.stdout.splitlines()]

    # ---- inside

    def _configure(self):
        folder = self.folder
        key = folder / "munge.key"
        if not key.exists():
            key.write_bytes(secrets.token_bytes(1024))
            key.chmod(0o400)
        nodes, devices = [], []
        for node, partition in NODES.items():
            generic = f"Gres=gpu:pretend_80g:{GPUS}" if partition == "gpu" else ""
            nodes.append(
                f"NodeName={node} NodeHostname={self.host} NodeAddr=127.0.0.1 Port={self.ports[node]} CPUs={CPUS} "
                f"RealMemory={MEMORY_MB} {generic}"
            )
        # Slurm names GPUs to jobs only where each has a device file; any will do.
        for number in range(GPUS):
            device = folder / f"dev/gpu{number}"
            if not device.is_symlink():
                device.symlink_to("/dev/null")
            devices.append(f"NodeName=g1 Name=gpu Type=pretend_80g File={device}")
        partitions = [
            f"PartitionName={partition} Nodes={','.join(n for n, p in NODES.items() if p == partition)} "
            f"Default={'YES' if partition == 'cpu' else 'NO'} MaxTime=2-00:00:00 DefaultTime=10 State=UP"
            for partition in ("cpu", "gpu")
        ]
        storage = ["AccountingStorageType=accounting_storage/none"]
        if self.accounting:
            storage = [
                "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
                f"AccountingStoragePort={self.ports['dbd']}", f"AccountingStoragePass={folder}/munge.sock",
                "AccountingStorageTRES=gres/gpu", "AccountingStoreFlags=job_comment",
                "AccountingStorageEnforce=associations,limits,qos",
            ]  # fmt: skip
        settings = [
            "ClusterName=pretend", f"SlurmctldHost={self.host}(127.0.0.1)", f"SlurmctldPort={self.ports['ctld']}",
            f"SlurmUser={self.user}", f"SlurmdUser={self.user}",
            "AuthType=auth/munge", "CredType=cred/munge", f"AuthInfo=socket={folder}/munge.sock",
            f"StateSaveLocation={folder}/state", f"SlurmdSpoolDir={folder}/spool/%n",
            f"SlurmctldPidFile={folder}/slurmctld.pid", f"SlurmdPidFile={folder}/slurmd-%n.pid",
            f"SlurmctldLogFile={folder}/log/slurmctld.log", f"SlurmdLogFile={folder}/log/slurmd-%n.log",
            "MpiDefault=none", "SwitchType=switch/none", "GresTypes=gpu",
            # No cgroups: they would take jobs out of the limits of whoever runs the tests.
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
            # Memory is looked at every second; a job above its request is killed.
            "JobAcctGatherType=jobacct_gather/linux", "JobAcctGatherFrequency=task=1",
            "JobAcctGatherParams=OverMemoryKill",
            "SlurmdParameters=config_overrides", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU_Memory",
            # Answer quickly; a node that is silent for 10 s is down and comes back by itself.
            "SchedulerType=sched/backfill",
            "SchedulerParameters=bf_interval=1,sched_interval=2,sched_min_interval=100000",
            "KillWait=2", "SlurmdTimeout=10", "SlurmctldTimeout=10", "ReturnToService=2", "MessageTimeout=10",
            "MinJobAge=300", "OverTimeLimit=0", "JobRequeue=1",
            *storage, *nodes, *partitions,
        ]  # fmt: skip
        (folder / "slurm.conf").write_text("\n".join(settings) + "\n")
        (folder / "gres.conf").write_text("\n".join(devices) + "\n")
        # slurmd wants a name here even where no cgroup is used, and ends without /sys/fs/cgroup if it has to guess.
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        if self.accounting:
            path = folder / "slurmdbd.conf"
            path.write_text(
                "\n".join([
                    "DbdHost=localhost", "DbdAddr=127.0.0.1", f"DbdPort={self.ports['dbd']}", f"SlurmUser={self.user}",
                    "AuthType=auth/munge", f"AuthInfo=socket={folder}/munge.sock", f"PidFile={folder}/slurmdbd.pid",
                    f"LogFile={folder}/log/slurmdbd.log", "StorageType=accounting_storage/mysql",
                    "StorageHost=localhost", "StorageUser=root", "StorageLoc=accounts",
                ]) + "\n"
            )  # fmt: skip
            path.chmod(0o600)
        # Jobs do not keep SLURM_CONF (the executor drops it), but they keep PATH.
        for command in COMMANDS:
            real = shutil.which(command, path=search_path())
            wrapper = folder / "bin" / command
            wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {real} "$@"\n')
            wrapper.chmod(0o755)

    def _start_accounting(self):
        folder = self.folder
        if not (folder / "db/mysql").is_dir():
            self.run(
                "mariadb-install-db", "--no-defaults", f"--datadir={folder}/db", f"--user={self.user}", "--force",
                "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
            )  # fmt: skip
        self._spawn(
            "mariadbd", "--no-defaults", f"--datadir={folder}/db", f"--user={self.user}", "--skip-networking",
            f"--socket={folder}/mysql.sock", "--skip-name-resolve", f"--pid-file={folder}/mariadbd.pid",
            "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=0",
        )  # fmt: skip
        ping = ("mariadb", "--no-defaults", f"--socket={folder}/mysql.sock", "-u", "root", "-e", "select 1")
        self._until(lambda: self.run(*ping, check=False).returncode == 0, "the database", seconds=90)
        self._spawn("slurmdbd", "-D", SLURM_CONF=f"{folder}/slurm.conf")
        self._until(lambda: self.run("sacctmgr", "-n", "list", "cluster", check=False).returncode == 0, "slurmdbd")

    def _spawn(self, program, *arguments, name=None, **more):
        """Start a daemon in the foreground of a session of its own."""
        path = shutil.which(program, path=search_path())
        with (self.folder / "log" / f"{name or program}.out").open("a") as out:
            process = subprocess.Popen(
                [path, *arguments], env=self.environment | more, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True, cwd=self.folder,
            )  # fmt: skip
        (self.folder / "pid" / (name or program)).write_text(str(process.pid))

    def _stop(self, name, sign):
        pid = int((self.folder / "pid" / name).read_text())
        try:
            process = psutil.Process(pid)
        except psutil.NoSuchProcess:
            return
        _send(process, sign)
        psutil.wait_procs([process], timeout=20)

    def _until(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                logs = [f"{p.name}:\n{p.read_text(errors='replace')[-800:]}" for p in (self.folder / "log").iterdir()]
                raise TimeoutError(f"no {what} after {seconds} s\n" + "\n".join(logs))
            time.sleep(0.2)


def _send(process, sign):
    try:
        process.send_signal(sign)
    except psutil.NoSuchProcess:
        return
