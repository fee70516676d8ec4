;;; hive-terminal-test.el --- The terminal in which an agent runs  -*- lexical-binding: t; -*-

(require 'cl-lib)
(require 'hive-terminal)
(require 'hive-test-help)

(ert-deftest hive-terminal-is-found-by-the-process-that-runs-in-it ()
  (let* ((buffer (generate-new-buffer "terminal"))
         (process (make-process :name "shell" :buffer buffer :noquery t
                                :command '("sh" "-c" "sleep 30 & echo $!; wait"))))
    (unwind-protect
        (let ((pid (hive-test-wait 5 (with-current-buffer buffer
                                       (and (string-match "\\([0-9]+\\)" (buffer-string))
                                            (string-to-number (match-string 1 (buffer-string))))))))
          (should (eq buffer (hive-terminal-buffer pid)))
          (should-not (hive-terminal-buffer (emacs-pid)))
          (should-not (hive-terminal-buffer nil))
          (signal-process pid 'kill))
      (delete-process process)
      (kill-buffer buffer))))

(defvar ghostel--pid)

;; Its process is a pipe, which has no id.
(ert-deftest hive-terminal-of-ghostel-is-found-by-the-program-behind-its-pipe ()
  (let* ((buffer (generate-new-buffer "ghostel"))
         (program (make-process :name "shell" :buffer nil :noquery t :command '("sleep" "60")))
         (pipe (make-pipe-process :name "ghostel" :buffer buffer :noquery t)))
    (unwind-protect
        (let ((pid (process-id program)))
          (should-not (hive-terminal-buffer pid))
          (process-put pipe 'ghostel--native-pid pid)
          (should (eq buffer (hive-terminal-buffer pid)))
          (process-put pipe 'ghostel--native-pid nil)
          (with-current-buffer buffer
            (defvar-local ghostel--pid nil)
            (setq-local ghostel--pid pid))
          (should (eq buffer (hive-terminal-buffer pid))))
      (makunbound 'ghostel--pid)
      (delete-process pipe)
      (delete-process program)
      (kill-buffer buffer))))

(ert-deftest hive-terminal-of-another-machine-is-not-looked-for-here ()
  (let ((said nil))
    (cl-letf (((symbol-function 'hive-announce) (lambda (&rest args) (push args said)))
              ((symbol-function 'hive-rpc-request)
               (lambda (_method _params &rest how)
                 (funcall (plist-get how :success)
                          (list :sessions (vector (list :session_id "s" :machine "token:ci"
                                                        :pid (emacs-pid)))))))
              ((symbol-function 'hive-terminal--visit-outside) (lambda (&rest _) (ert-fail "It was looked for"))))
      (hive-terminal-visit "s" "shop")
      (should (equal '(("%s runs on another machine, which has the token %s" "shop" "ci")) said))
      (hive-terminal-visit "gone" "shop")
      (should (equal '("%s is no longer running" "shop") (car said))))))

;;;; Outside of this Emacs

;; The programs are not here: these play them, by what their manuals say.

(defun hive-terminal-test-program (folder name &rest lines)
  "Make a program NAME in FOLDER that logs its arguments, and runs LINES."
  (let ((file (expand-file-name name folder)))
    (with-temp-file file
      (insert "#!/bin/sh\n"
              (format "echo \"%s${WEZTERM_UNIX_SOCKET:+ at $WEZTERM_UNIX_SOCKET} $*\" >>%s/log\n" name folder)
              (mapconcat #'identity lines "\n") "\n"))
    (set-file-modes file #o755)))

(defmacro hive-terminal-test (terminal variables &rest body)
  "Run BODY where TERMINAL, a program with this name, has started a shell.
The shell has VARIABLES, and a process of it is the agent, whose
ancestors are `chain'.  `folder' comes first among the programs; `said'
is what was announced, and `log' what programs were called."
  (declare (indent 2))
  `(let* ((folder (make-temp-file "hive-terminal" t))
          (exec-path (cons folder exec-path))
          (process-environment (append (list (concat "PATH=" folder ":" (getenv "PATH")) "DISPLAY=:9" "TMUX=")
                                       process-environment))
          (named (expand-file-name "named/" folder))
          (said nil)
          (log (lambda () (with-temp-buffer (insert-file-contents (expand-file-name "log" folder))
                                            (split-string (buffer-string) "\n" t))))
          (buffer (generate-new-buffer " terminal"))
          (process (progn
                     (make-directory named)
                     (copy-file "/bin/sh" (expand-file-name ,terminal named))
                     (make-process :name "terminal" :buffer buffer :noquery t
                                   :command (list (expand-file-name ,terminal named) "-c"
                                                  (format "%s sh -c 'sleep 60 & echo $!; wait'; true" ,variables))))))
     (unwind-protect
         (cl-letf* ((pid (hive-test-wait 5 (with-current-buffer buffer
                                             (and (string-match "^\\([0-9]+\\)\n" (buffer-string))
                                                  (string-to-number (match-string 1 (buffer-string)))))))
                    (chain (hive-terminal--ancestors pid))
                    ((symbol-function 'hive-terminal--sockets) #'ignore)
                    ((symbol-function 'hive-announce) (lambda (&rest args) (push args said))))
           ,@body
           (signal-process pid 'kill))
       (delete-process process)
       (kill-buffer buffer)
       (delete-directory folder t))))

(ert-deftest hive-terminal-goes-to-the-window-of-kitty ()
  (hive-terminal-test "kitty" "KITTY_LISTEN_ON=unix:/run/kitty KITTY_WINDOW_ID=7"
    (hive-terminal-test-program folder "kitty")
    (hive-terminal--visit-outside chain "shop")
    (hive-test-wait 5 said)
    (should (equal '((terminal-window "shop" "kitty")) said))
    (should (equal '("kitty @ --to unix:/run/kitty focus-window --match id:7") (funcall log)))))

(ert-deftest hive-terminal-believes-no-variable-of-the-agent ()
  ;; No kitty is above it: the shell of another program has the variables.
  (hive-terminal-test "somewhere" "KITTY_LISTEN_ON=unix:/run/kitty KITTY_WINDOW_ID=7"
    (hive-terminal-test-program folder "kitty")
    (hive-terminal-test-program folder "xdotool")
    (hive-terminal--visit-outside chain "shop")
    (hive-test-wait 5 said)
    (should (equal "%s runs %s, where Hive cannot take you" (caar said)))
    (should-not (cl-some (lambda (line) (string-prefix-p "kitty" line)) (funcall log)))))

(ert-deftest hive-terminal-selects-the-pane-of-wezterm-and-raises-its-window ()
  (hive-terminal-test "wezterm-gui" "WEZTERM_UNIX_SOCKET=/run/wez WEZTERM_PANE=3"
    (hive-terminal-test-program folder "wezterm")
    (let ((gui (nth 2 chain)))
      (hive-terminal-test-program folder "xdotool" (format "case \"$*\" in *'--pid %d') echo 77;; esac" gui))
      (hive-terminal--visit-outside chain "shop")
      (hive-test-wait 5 said)
      (should (equal '((terminal-window "shop" "WezTerm")) said))
      (should (equal "wezterm at /run/wez cli activate-pane --pane-id 3" (car (funcall log))))
      (should (equal "xdotool windowactivate 77" (car (last (funcall log))))))))

(ert-deftest hive-terminal-raises-the-only-window-of-the-program-that-shows-the-agent ()
  (hive-terminal-test "xterm" ""
    (let ((xterm (nth 2 chain)))
      (hive-terminal-test-program folder "xdotool" (format "case \"$*\" in *'--pid %d') echo 42;; esac" xterm))
      (hive-terminal--visit-outside chain "shop")
      (hive-test-wait 5 said)
      (should (equal '(("%s is in the window that was raised" "shop")) said))
      ;; Two windows of one program: nobody knows which.
      (setq said nil)
      (hive-terminal-test-program folder "xdotool" (format "case \"$*\" in *'--pid %d') echo 42; echo 43;; esac" xterm))
      (hive-terminal--visit-outside chain "shop")
      (hive-test-wait 5 said)
      (should (equal "%s runs %s, where Hive cannot take you" (caar said))))))

(ert-deftest hive-terminal-says-where-an-agent-runs-that-it-cannot-show ()
  (hive-terminal-test "somewhere" ""
    (hive-terminal-test-program folder "xdotool" "exit 1")
    (hive-terminal--visit-outside chain "shop")
    (hive-test-wait 5 said)
    (pcase-let ((`(("%s runs %s, where Hive cannot take you" "shop" ,words)) said))
      (should (string-match-p "\\`at /dev/\\|\\`without a terminal\\'" words)))))
