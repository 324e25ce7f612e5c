//! A swarm of three engines on this machine, each in a network namespace of its own, since their
//! ports are the same. Their addresses stay inside the machine.

use std::{
    env,
    path::PathBuf,
    process::{self, Command},
    time::Instant,
};

use super::{Daemon, base_image};
use crate::{Outcome, setup};

/// Environment variable with the addresses of the engines, the manager first.
pub(crate) const SWARM: &str = "TRELLIS_TEST_SWARM";

const ENGINES: usize = 3;

/// Beginning of the addresses of the engines' interfaces.
const NETWORK: &str = "10.97.31";

/// A running swarm; stopped when dropped.
pub(crate) struct Swarm {
    // Dropped in this order: the engines end before their network.
    daemons: Vec<Daemon>,
    network: Network,
}

/// Starts a swarm, or prints why the tests that need one are skipped.
pub(super) fn start() -> Option<Swarm> {
    if env::var_os(SWARM).is_some_and(|it| !it.is_empty()) {
        return None;
    }
    match Swarm::start() {
        Ok(swarm) => Some(swarm),
        Err(why) => {
            eprintln!("\nSKIPPED: every test that needs a swarm, because {why}\n");
            None
        }
    }
}

impl Swarm {
    fn start() -> Result<Swarm, String> {
        let started = Instant::now();
        let network = Network::new()?;
        let image = base_image()?;
        let mut swarm = Swarm { daemons: Vec::new(), network };
        for number in 0..ENGINES {
            let daemon = Daemon::spawn(swarm.network.command(number));
            swarm
                .daemons
                .push(daemon.map_err(|error| format!("no engine can be started: {error}"))?);
        }
        for daemon in &swarm.daemons {
            daemon.ready()?;
            daemon.import(&image)?;
        }
        swarm.join()?;
        eprintln!("a swarm of {ENGINES} runs ({:.1?})", started.elapsed());
        Ok(swarm)
    }

    fn join(&self) -> Outcome {
        let Some((manager, others)) = self.daemons.split_first() else { return Ok(()) };
        manager.docker(["swarm", "init", "--advertise-addr"], [address(0)])?;
        let token = manager.docker(["swarm", "join-token", "--quiet"], ["worker"])?;
        let to = format!("{}:2377", address(0));
        for (number, daemon) in others.iter().enumerate() {
            let own = address(number + 1);
            let more = [token.trim(), "--advertise-addr", &own, &to];
            daemon.docker(["swarm", "join", "--token"], more)?;
        }
        Ok(())
    }

    /// Returns the environment variable for the tests.
    pub(super) fn variable(&self) -> (&'static str, String) {
        let hosts: Vec<String> = self.daemons.iter().map(Daemon::host).collect();
        (SWARM, hosts.join(","))
    }
}

fn address(number: usize) -> String {
    format!("{NETWORK}.{}", number + 11)
}

/// A bridge with a network namespace for each engine; removed when dropped.
struct Network {
    /// Name of the bridge, with which the other names begin.
    name: String,
}

impl Network {
    fn new() -> Result<Network, String> {
        // The name of an interface has 15 bytes at most.
        let network = Network { name: format!("tre{}", process::id()) };
        network.make().map_err(|error| format!("no network for it can be made: {error}"))?;
        Ok(network)
    }

    fn make(&self) -> Outcome {
        let bridge = &self.name;
        ip(&["link", "add", bridge, "type", "bridge"])?;
        ip(&["link", "set", bridge, "up"])?;
        for number in 0..ENGINES {
            let (space, port) = (self.space(number), format!("{bridge}v{number}"));
            ip(&["netns", "add", &space])?;
            let peer = ["type", "veth", "peer", "name", "eth0", "netns", &space];
            ip(&[&["link", "add", &port], &peer[..]].concat())?;
            ip(&["link", "set", &port, "master", bridge, "up"])?;
            let within = ["-netns", &space];
            let address = format!("{}/24", address(number));
            ip(&[&within[..], &["address", "add", &address, "dev", "eth0"]].concat())?;
            ip(&[&within[..], &["link", "set", "eth0", "up"]].concat())?;
            ip(&[&within[..], &["link", "set", "lo", "up"]].concat())?;
        }
        Ok(())
    }

    fn space(&self, number: usize) -> String {
        format!("{}n{number}", self.name)
    }

    /// Returns the command that starts an engine in its namespace, with a bridge for containers, as
    /// engines have one: tests must not be on it. `ip netns exec` would hide the control groups.
    fn command(&self, number: usize) -> Command {
        let space = PathBuf::from("/var/run/netns").join(self.space(number));
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", space.display()));
        command.args(["setpriv", "--pdeathsig", "TERM", "dockerd"]);
        command
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for number in 0..ENGINES {
            let _ = ip(&["netns", "delete", &self.space(number)]);
        }
        let _ = ip(&["link", "delete", &self.name]);
    }
}

fn ip(arguments: &[&str]) -> Outcome {
    setup::run(Command::new("ip").args(arguments))
}
