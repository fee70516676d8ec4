;;; hive-rpc-test.el --- The connection stays whole and never freezes Emacs  -*- lexical-binding: t; -*-

;; Tags: undisturbed

(require 'hive-test-help)

(require 'hive-rpc)

(defvar hive-rpc-test-told nil "What the notifications of these tests brought.")

(cl-defmethod hive-rpc-handle ((_method (eql 'test/told)) params)
  "Remember PARAMS."
  (push (plist-get params :i) hive-rpc-test-told))

(cl-defmethod hive-rpc-handle ((_method (eql 'test/fails)) _params)
  "Fail."
  (error "A handler that fails"))

(cl-defmethod hive-rpc-handle ((_method (eql 'test/quits)) _params)
  "Quit."
  (signal 'quit nil))

(cl-defmethod hive-rpc-handle ((_method (eql 'test/echoes)) params)
  "Send PARAMS back, a large message, from within a handler."
  (hive-rpc-request 'fake/echo params
                    :success (lambda (result) (push (plist-get result :i) hive-rpc-test-told))))

(ert-deftest hive-rpc-forty-large-answers-at-once-while-as-much-arrives ()
  (hive-test-with-process nil
    (hive-test-connect)
    (let ((got 0) (text (make-string 102400 ?ä)) (hive-rpc-test-told nil))
      (hive-rpc-request 'fake/burst '(:count 40 :size 102400 :method "test/told"))
      (dotimes (_ 40)
        (hive-rpc-request 'fake/echo (list :text text)
                          :timeout 60
                          :success (lambda (result)
                                     (when (equal text (plist-get result :text)) (cl-incf got)))))
      (hive-test-wait 30 (and (= got 40) (= 40 (length hive-rpc-test-told))))
      (should (equal (number-sequence 39 0 -1) hive-rpc-test-told)))))

(ert-deftest hive-rpc-forty-large-messages-from-handlers ()
  (hive-test-with-process nil
    (hive-test-connect)
    (let ((hive-rpc-test-told nil))
      (hive-rpc-request 'fake/burst '(:count 40 :size 102400 :method "test/echoes"))
      (hive-test-wait 30 (= 40 (length hive-rpc-test-told)))
      (should (hive-test-call 'fake/echo '(:still "alive"))))))

(ert-deftest hive-rpc-two-thousand-notifications-in-a-burst-in-order ()
  (hive-test-with-process nil
    (hive-test-connect)
    (let ((hive-rpc-test-told nil))
      (hive-rpc-request 'fake/burst '(:count 2000 :method "test/told"))
      (hive-test-wait 20 (= 2000 (length hive-rpc-test-told)))
      (should (equal (number-sequence 1999 0 -1) hive-rpc-test-told)))))

(ert-deftest hive-rpc-a-handler-that-fails-or-quits-freezes-nothing ()
  (hive-test-connected
    (let* ((hive-rpc-test-told nil)
           (escaped nil)
           ;; Emacs calls it for an error in a process filter.
           (command-error-function (lambda (&rest data) (push data escaped))))
      (dotimes (i 5)
        (hive-test-call 'fake/tell '(:method "test/fails" :params (:i 0)))
        (hive-test-call 'fake/tell '(:method "test/quits" :params (:i 0)))
        (hive-test-call 'fake/tell (list :method "test/told" :params (list :i i))))
      (hive-test-wait 5 (equal '(4 3 2 1 0) hive-rpc-test-told))
      (should-not escaped))))

(ert-deftest hive-rpc-an-unknown-notification-is-ignored-silently ()
  (hive-test-connected
    (let ((said nil))
      (cl-letf (((symbol-function 'message) (lambda (&rest args) (push args said))))
        (hive-test-call 'fake/tell '(:method "mention/changed" :params (:a 1)))
        (hive-test-call 'fake/tell '(:method "something/newer" :params [1 2]))
        (hive-test-call 'fake/echo '(:a 1)))
      (should-not said))))

(ert-deftest hive-rpc-a-malformed-message-is-lost-and-nothing-else ()
  (hive-test-connected
    (let ((windows (current-window-configuration)))
      (hive-test-call 'fake/bytes '(:text "Content-Length: 7\r\n\r\n{\"a\":}}"))
      (hive-test-call 'fake/bytes '(:text "Content-Length: 2\r\n\r\n[]"))
      (should (equal 1 (plist-get (hive-test-call 'fake/echo '(:a 1)) :a)))
      (should (compare-window-configurations windows (current-window-configuration)))
      (should-not (get-buffer-window "*Warnings*" t)))))

(ert-deftest hive-rpc-a-domain-error-has-a-name-and-a-text ()
  (hive-test-connected
    (let ((err nil))
      (hive-rpc-request 'hivemind-response '(:ask_id "x" :response_id "y")
                        :error (lambda (oops) (setq err oops)))
      (hive-test-wait 5 err)
      (should (equal err '(:code -32002 :name prompt_not_found :text "There is no question x.")))
      (setq err nil)
      (hive-rpc-request 'no/such nil :error (lambda (oops) (setq err oops)))
      (hive-test-wait 5 err)
      (should (= -32601 (plist-get err :code)))
      (should-not (plist-get err :name)))))

(ert-deftest hive-rpc-params-that-cannot-be-encoded-are-an-error-of-the-request ()
  (hive-test-connected
    (let ((err nil))
      (hive-rpc-request 'fake/echo (list :text (string #x3FFF80)) :error (lambda (oops) (setq err oops)))
      (hive-test-wait 5 err)
      (should (= -32602 (plist-get err :code)))
      (should (hive-test-call 'fake/echo '(:a 1))))))

(ert-deftest hive-rpc-requests-without-a-connection-fail-later-not-now ()
  (let ((hive-rpc-connection nil) (err nil))
    (hive-rpc-request 'fake/echo nil :error (lambda (oops) (setq err oops)))
    (should-not err)
    (hive-test-wait 1 err)
    (should (eq 'disconnected (plist-get err :name)))))

(ert-deftest hive-rpc-a-silent-sidecar-is-killed-and-started-again ()
  (hive-test-with-process nil
    (hive-test-connect)
    (setq hive-rpc--delay 0.1)
    (let ((first hive-rpc-connection) (errors nil))
      (hive-test-call 'fake/plan '(:method "fake/echo" :outcomes ["silence" "silence"]))
      (dotimes (_ 2)
        (hive-rpc-request 'fake/echo nil :timeout 0.2
                          :error (lambda (oops) (push (plist-get oops :name) errors))))
      (hive-test-wait 5 (= 2 (length errors)))
      (should (memq 'timeout errors))
      (hive-test-wait 10 (and (hive-sidecar-connected-p) (not (eq first hive-rpc-connection))))
      (should (hive-test-call 'fake/echo '(:a 1))))))

(ert-deftest hive-rpc-a-function-of-a-hook-that-fails-does-not-stop-the-others ()
  (hive-test-with-desk nil
    (let* ((states nil) (connected nil)
           (hive-sidecar-state-hook (append (list (lambda () (error "It fails"))
                                                  (lambda () (push hive-sidecar-state states)))
                                            hive-sidecar-state-hook))
           (hive-connected-hook (append (list (lambda () (error "It fails"))
                                              (lambda () (setq connected t)))
                                        hive-connected-hook)))
      (hive-test-connect)
      (should (equal '(connected starting) states))
      (should connected)
      (hive-mode -1))))

(ert-deftest hive-rpc-an-outbox-that-cannot-be-read-keeps-no-question-away ()
  (hive-test-with-desk nil
    (cl-letf (((symbol-function 'hive-outbox-adopt)
               (lambda () (signal 'file-error '("Opening directory" "Permission denied")))))
      (hive-mode 1)
      (hive-test-wait 10 (hive-sidecar-connected-p))
      (hive-rpc-guarded #'hive-test-call 'fake/ask '(:ask_id "p1"))
      (hive-sidecar-stop)
      (hive-model-forget)
      (hive-sidecar-start)
      (hive-test-wait 10 (hive-prompts)))))

(ert-deftest hive-rpc-the-human-can-quit-while-a-program-reads-nothing ()
  (let* ((ended nil) (failed nil)
         (conn (hive-rpc-open '("sleep" "60") process-environment (lambda (_) (setq ended t)))))
    ;; It runs once the pipe is full, since Emacs waits for nothing before.
    (run-at-time 0 nil (lambda () (setq quit-flag t)))
    (should (eq 'quit (condition-case nil
                          (hive-rpc-request 'initialize (list :text (make-string 4000000 ?a))
                                            :conn conn
                                            :error (lambda (err) (setq failed (plist-get err :name))))
                        (quit 'quit))))
    ;; Half a message is in that pipe, which is of no use then.
    (hive-test-wait 10 (and ended (eq failed 'disconnected)))
    (should-not (hive-rpc-pipe-live-p conn))))

(ert-deftest hive-rpc-an-error-that-nobody-handles-is-logged ()
  (hive-test-connected
    (hive-rpc-request 'no/such nil)
    (hive-test-wait 5 (with-current-buffer "*hive log*"
                        (string-match-p "no/such failed: " (buffer-string))))))

(ert-deftest hive-rpc-the-end-of-a-sidecar-leaves-the-next-one-its-buffer ()
  (hive-test-connected
    (let ((buffer (process-buffer (jsonrpc--process hive-rpc-connection))))
      (hive-restart)
      (hive-test-wait 10 (hive-sidecar-connected-p))
      (should-not (eq buffer (process-buffer (jsonrpc--process hive-rpc-connection))))
      ;; Killing it would end the process that has it.
      (hive-test-wait 10 (not (buffer-live-p buffer)))
      (should (hive-test-call 'fake/echo '(:a 1))))))

(ert-deftest hive-rpc-leaves-no-buffers-and-no-processes ()
  (hive-test-with-process nil
    (let ((buffers (buffer-list)) (processes (process-list)))
      (hive-test-connect)
      (hive-mode -1)
      (hive-test-wait 5 (not (hive-test-sidecars)))
      (hive-test-wait 5 (null (cl-set-difference (process-list) processes)))
      ;; The log stays on purpose; the other one is Emacs' own.
      (hive-test-wait 5 (null (cl-set-difference (mapcar #'buffer-name (cl-set-difference (buffer-list) buffers))
                                                 '("*hive log*" " *code-conversion-work*")
                                                 :test #'equal))))))
